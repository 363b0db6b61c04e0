-- The lock a build was started from: its file is fetched under the lock, whatever tags mean by now.

ALTER TABLE "build" ADD COLUMN "lock_id" CHAR(64);
