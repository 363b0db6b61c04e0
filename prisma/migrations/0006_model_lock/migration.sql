-- Locks that files are built from: which inputs, by digest, instead of what the source's tags mean today.

CREATE TABLE "model_lock" (
  "id" CHAR(64) NOT NULL,
  "document" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "model_lock_pkey" PRIMARY KEY ("id")
);
