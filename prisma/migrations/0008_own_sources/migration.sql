-- Extensions and overlays that are not official: where they come from, and which images of them are in use.

CREATE TABLE "own_source" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "namespace" TEXT NOT NULL,
    "name" TEXT,
    "reference" TEXT,
    "trust" JSONB NOT NULL,
    "override" BOOLEAN NOT NULL,
    "declared" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "own_source_pkey" PRIMARY KEY ("id")
);

-- One source for each thing: a second one for the same name would leave open which is meant.
CREATE UNIQUE INDEX "own_source_name_key" ON "own_source" ("subject", "namespace", coalesce("name", ''));

CREATE TABLE "own_pin" (
    "id" UUID NOT NULL,
    "source_id" UUID,
    "subject" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "repository" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "tag" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "talos" TEXT NOT NULL,
    "constraint" TEXT NOT NULL,
    "author" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "platforms" JSONB NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "override" BOOLEAN NOT NULL,
    "report" JSONB NOT NULL,
    "accepted" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "adopted_at" TIMESTAMPTZ(3),

    CONSTRAINT "own_pin_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "own_pin_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "own_source"("id") ON DELETE SET NULL ON UPDATE CASCADE
);

CREATE INDEX "own_pin_source_id_idx" ON "own_pin" ("source_id");
CREATE INDEX "own_pin_state_idx" ON "own_pin" ("state");

-- Counts every change, so that a process can ask in one short question whether what it remembers still holds. A row and
-- not a sequence: the count must become visible together with the change.
CREATE TABLE "own_revision" (
    "only" BOOLEAN NOT NULL DEFAULT true CHECK ("only"),
    "count" BIGINT NOT NULL,

    CONSTRAINT "own_revision_pkey" PRIMARY KEY ("only")
);
INSERT INTO "own_revision" ("count") VALUES (0);

CREATE FUNCTION own_changed() RETURNS trigger AS $$
BEGIN UPDATE "own_revision" SET "count" = "count" + 1; RETURN NULL; END
$$ LANGUAGE plpgsql;
CREATE TRIGGER own_source_changed AFTER INSERT OR UPDATE OR DELETE ON "own_source" FOR EACH STATEMENT EXECUTE FUNCTION own_changed();
CREATE TRIGGER own_pin_changed AFTER INSERT OR UPDATE OR DELETE ON "own_pin" FOR EACH STATEMENT EXECUTE FUNCTION own_changed();
