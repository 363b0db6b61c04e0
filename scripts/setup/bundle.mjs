/** Bundles our own code into dist/*.mjs; packages stay outside. */
import { rmSync } from "node:fs";
import { build } from "esbuild";
import { BUNDLES } from "./steps.mjs";

rmSync("dist", { recursive: true, force: true });
await build({
  entryPoints: BUNDLES,
  outdir: "dist",
  outExtension: { ".js": ".mjs" },
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  packages: "external",
  platform: "node",
  target: "node20",
  format: "esm",
  sourcemap: true,
  logLevel: "warning",
});
