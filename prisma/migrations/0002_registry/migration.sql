-- What the registry under /v2 serves. Manifests are small and kept here, so that an image and its tag appear in one
-- transaction; blobs lie in the object store.

CREATE TABLE "registry_manifest" (
  "repository" TEXT NOT NULL,
  "digest" TEXT NOT NULL,
  "media_type" TEXT NOT NULL,
  "bytes" BYTEA NOT NULL,
  "subject" TEXT,
  "artifact_type" TEXT,
  "annotations" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "registry_manifest_pkey" PRIMARY KEY ("repository", "digest")
);

CREATE INDEX "registry_manifest_repository_subject_idx" ON "registry_manifest" ("repository", "subject");

CREATE TABLE "registry_blob" (
  "repository" TEXT NOT NULL,
  "digest" TEXT NOT NULL,
  "size_bytes" BIGINT NOT NULL,
  CONSTRAINT "registry_blob_pkey" PRIMARY KEY ("repository", "digest")
);

CREATE TABLE "registry_tag" (
  "repository" TEXT NOT NULL,
  "tag" TEXT NOT NULL,
  "digest" TEXT NOT NULL,
  "plan_key" CHAR(64),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "registry_tag_pkey" PRIMARY KEY ("repository", "tag")
);
