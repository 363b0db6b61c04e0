/** `npm run check`: types, lint, layers, dead code, unit tests and vectors, side by side, with one summary. */
import { type Outcome, printSummary, runAll, STATIC_CHECKS, tier } from "./checks/tasks.ts";

const start = Date.now();
const report = ({ name, ok, seconds, output }: Outcome) => {
  console.log(`${ok ? "ok    " : "FAILED"} ${name} (${seconds.toFixed(1)} s)`);
  if (!ok) console.log(output.trimEnd());
};
const outcomes = await runAll(
  [...STATIC_CHECKS.slice(0, 1), tier("unit"), ...STATIC_CHECKS.slice(1), tier("vectors")],
  report,
);
const { passed, failed } = printSummary(outcomes);
console.log(
  `\n${passed} passed, ${failed} failed (Node ${process.versions.node}, ${((Date.now() - start) / 1000).toFixed(0)} s)`,
);
process.exitCode = failed === 0 ? 0 : 1;
