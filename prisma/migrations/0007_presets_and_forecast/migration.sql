-- Choices that people keep under a name, and the way to the last builds of a file by its name.

CREATE TABLE "preset" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "schematic_id" CHAR(64) NOT NULL,
    "target" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "preset_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "preset_schematic_id_fkey" FOREIGN KEY ("schematic_id") REFERENCES "schematic"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- Names are told apart as people read them.
CREATE UNIQUE INDEX "preset_name_key" ON "preset" (lower("name"));

CREATE INDEX "build_ready_by_path" ON "build" ("path", "id") WHERE "state" = 'ready' AND "started_at" IS NOT NULL;

CREATE INDEX "build_finished_at_idx" ON "build" ("finished_at");
