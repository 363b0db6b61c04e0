/** `npm test`: the checks, then every tier that needs servers, programs or a browser; one summary, counts added up. */
import { type Outcome, printSummary, runAll, runTask, STATIC_CHECKS, tier } from "./checks/tasks.ts";

const outcomes: Outcome[] = [];
const report = (outcome: Outcome) => {
  outcomes.push(outcome);
  console.log(`${outcome.ok ? "ok    " : "FAILED"} ${outcome.name} (${outcome.seconds.toFixed(1)} s)`);
};

await runAll([...STATIC_CHECKS, tier("unit"), tier("vectors")], (outcome) => {
  report(outcome);
  if (!outcome.ok) console.log(outcome.output.trimEnd());
});
for (const name of ["integration", "e2e", "boot"]) {
  console.log(`\n---- ${name}`);
  report(await runTask(tier(name), true));
}
const { passed, failed } = printSummary(outcomes);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
