import { defineConfig } from "vitest/config";

/** Tiers that need real servers share one of each per run; see tests/fixtures/shared-servers.ts. */
const project = (name: string, timeout: number, servers = false) => ({
  test: {
    name,
    include: [`tests/${name}/**/*.test.ts`],
    testTimeout: timeout,
    hookTimeout: Math.max(timeout, 120_000),
    pool: "forks" as const,
    ...(servers ? { globalSetup: ["tests/fixtures/shared-servers.ts"] } : {}),
  },
});

export default defineConfig({
  resolve: { alias: { "@": import.meta.dirname } },
  test: {
    projects: [
      project("unit", 20_000),
      project("vectors", 60_000),
      project("integration", 180_000, true),
      project("e2e", 180_000, true),
      project("boot", 420_000, true),
      // Those that `npm run boots` adds.
      project("boots", 600_000, true),
    ],
    fileParallelism: false,
  },
});
