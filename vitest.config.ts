import { defineConfig } from "vitest/config";

const project = (name: string, timeout: number) => ({
  test: {
    name,
    include: [`tests/${name}/**/*.test.ts`],
    testTimeout: timeout,
    hookTimeout: Math.max(timeout, 120_000),
    pool: "forks" as const,
  },
});

export default defineConfig({
  resolve: { alias: { "@": import.meta.dirname } },
  test: {
    projects: [
      project("unit", 20_000),
      project("vectors", 60_000),
      project("integration", 180_000),
      project("e2e", 180_000),
      project("boot", 420_000),
    ],
    fileParallelism: false,
  },
});
