/** `npm test`: the checks, then every tier that needs servers, programs or a browser; one summary, counts added up. */
import { type Outcome, printSummary, runAll, STATIC_CHECKS, tier } from "./checks/tasks.ts";

const outcomes: Outcome[] = [];
const report = (outcome: Outcome) => {
  outcomes.push(outcome);
  console.log(`${outcome.ok ? "ok    " : "FAILED"} ${outcome.name} (${outcome.seconds.toFixed(1)} s)`);
};

await runAll([...STATIC_CHECKS, tier("unit"), tier("vectors")], (outcome) => {
  report(outcome);
  if (!outcome.ok) console.log(outcome.output.trimEnd());
});
// Each tier runs its files one after the other and waits much: two tiers side by side keep two cores busy.
await runAll([tier("integration"), tier("boot"), tier("e2e")], (outcome) => {
  console.log(`\n---- ${outcome.name}\n${outcome.output.trimEnd()}`);
  report(outcome);
});
const { passed, failed } = printSummary(outcomes);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
