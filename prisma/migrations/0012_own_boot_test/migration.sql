-- Boots of an own extension in a virtual machine, so that people see it come up before a machine of theirs does.

CREATE TABLE "own_boot_test" (
    "id" UUID NOT NULL,
    "pin_id" UUID NOT NULL,
    "digest" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "schematic_id" TEXT,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "log" TEXT NOT NULL DEFAULT '',
    "ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "own_boot_test_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "own_boot_test_pin_id_fkey" FOREIGN KEY ("pin_id") REFERENCES "own_pin"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE INDEX "own_boot_test_pin_id_idx" ON "own_boot_test" ("pin_id");

-- Two people who ask at once get one machine.
CREATE UNIQUE INDEX "own_boot_test_one_open" ON "own_boot_test" ("pin_id") WHERE "state" IN ('queued', 'running');
