-- Tries that failed. "attempts" also counts those that a stopped worker handed back, and only fences off old claims.

ALTER TABLE "build" ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0;
