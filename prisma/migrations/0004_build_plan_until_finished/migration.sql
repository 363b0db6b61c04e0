-- A plan may hold an embedded machine configuration, and only the worker that makes the file needs it.

ALTER TABLE "build" ALTER COLUMN "plan" DROP NOT NULL;

UPDATE "build" SET "plan" = NULL WHERE "state" IN ('ready', 'failed', 'cancelled');
