/**
 * `npm run boots`: every boot that is tested, those of `npm test` and those that take too long for it, and a table of what
 * each guest reported. Words behind `--` choose files: `npm run boots -- arm64`.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootTable, readBootRows } from "./boot/table.ts";

function runTests(rowsFile: string): Promise<number> {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "boot", "--project", "boots"];
  const child = spawn(process.execPath, [...args, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, CASTHOUSE_BOOT_ROWS: rowsFile },
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

const dir = await mkdtemp(join(tmpdir(), "casthouse-boots-"));
try {
  const rowsFile = join(dir, "rows");
  const started = Date.now();
  process.exitCode = await runTests(rowsFile);
  const rows = await readBootRows(rowsFile);
  console.log(`\n${bootTable(rows)}\n`);
  console.log(`${rows.length} boots in ${((Date.now() - started) / 1000).toFixed(0)} s`);
} finally {
  await rm(dir, { recursive: true, force: true });
}
