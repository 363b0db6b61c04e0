/** A vitest reporter that counts for `npm test` and says of every skipped test why it was skipped. */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: { name: string; reason: string | null }[];
  /** Files that could not be loaded, hooks that failed: what makes a run fail without a failed test. */
  errors: string[];
}

/** Writes TestCounts as JSON into the file that CASTHOUSE_TEST_COUNTS names. */
export default class CountingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message?: string }[]): void {
    const counts: TestCounts = {
      passed: 0,
      failed: 0,
      skipped: [],
      errors: unhandled.map((error) => error.message ?? "error"),
    };
    for (const module of modules) {
      counts.errors.push(...module.errors().map((error) => `${module.relativeModuleId}: ${error.message}`));
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") counts.passed++;
        else if (result.state === "failed") counts.failed++;
        else
          counts.skipped.push({
            name: `${module.relativeModuleId} > ${test.fullName}`,
            reason: noteOf(result),
          });
      }
      for (const suite of module.children.allSuites()) {
        counts.errors.push(...suite.errors().map((error) => `${suite.fullName}: ${error.message}`));
      }
    }
    for (const { name, reason } of counts.skipped)
      console.log(`skipped: ${name}: ${reason ?? "NO REASON GIVEN"}`);
    const file = process.env.CASTHOUSE_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify(counts));
  }
}

function noteOf(result: object): string | null {
  return "note" in result && typeof result.note === "string" && result.note !== "" ? result.note : null;
}
