-- Tables of the first release. Times carry their zone: a server that does not run in UTC must not shift them.

CREATE TABLE "schematic" (
  "id" CHAR(64) NOT NULL,
  "canonical" BYTEA NOT NULL,
  "parsed" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "schematic_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "asset" (
  "key" CHAR(64) NOT NULL,
  "kind" TEXT NOT NULL,
  "file_name" TEXT NOT NULL,
  "version" TEXT NOT NULL,
  "sha256" CHAR(64) NOT NULL,
  "sha512" CHAR(128) NOT NULL,
  "size_bytes" BIGINT NOT NULL,
  "storage_key" TEXT NOT NULL,
  "inputs" JSONB NOT NULL,
  "built_by" TEXT NOT NULL,
  "built_in_ms" INTEGER NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "last_served_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "asset_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "build" (
  "id" UUID NOT NULL,
  "asset_key" CHAR(64) NOT NULL,
  "schematic_id" CHAR(64) NOT NULL,
  "version" TEXT NOT NULL,
  "path" TEXT NOT NULL,
  "plan" JSONB NOT NULL,
  "state" TEXT NOT NULL,
  "phase" TEXT,
  "step" INTEGER NOT NULL DEFAULT 0,
  "steps" INTEGER NOT NULL DEFAULT 0,
  "percent" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "note" TEXT,
  "error" JSONB,
  "timings" JSONB NOT NULL DEFAULT '[]',
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "detached" BOOLEAN NOT NULL DEFAULT false,
  "request_id" TEXT NOT NULL,
  "worker" TEXT,
  "heartbeat_at" TIMESTAMPTZ(3),
  "queued_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "started_at" TIMESTAMPTZ(3),
  "finished_at" TIMESTAMPTZ(3),
  CONSTRAINT "build_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "build_state_known"
    CHECK ("state" IN ('queued', 'building', 'uploading', 'ready', 'failed', 'cancelled'))
);

CREATE INDEX "build_asset_key_id_idx" ON "build" ("asset_key", "id");
CREATE INDEX "build_schematic_id_id_idx" ON "build" ("schematic_id", "id");

-- However many ask, on however many machines: one running build per asset. Everything else about
-- deduplication rests on this line.
CREATE UNIQUE INDEX "build_one_running_per_asset" ON "build" ("asset_key")
  WHERE "state" IN ('queued', 'building', 'uploading');

CREATE TABLE "release" (
  "version" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "missing" JSONB NOT NULL DEFAULT '[]',
  "sample" BOOLEAN NOT NULL DEFAULT false,
  "inputs" JSONB NOT NULL,
  "extensions" JSONB NOT NULL,
  "overlays" JSONB NOT NULL,
  "checked_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "release_pkey" PRIMARY KEY ("version")
);
