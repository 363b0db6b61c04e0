/** Collects what is found wrong, without letting one fault in ten thousand files hide everything else. */
import type { Finding, Severity } from "../../domain/extension-report.ts";

/** Findings of one code that are told one by one. */
const MOST_OF_ONE = 25;
const ORDER: Record<Severity, number> = { error: 0, warning: 1, hint: 2 };

export class Findings {
  readonly #found: Finding[] = [];
  readonly #counts = new Map<string, number>();

  add(severity: Severity, code: string, message: string, more: { path?: string; hint?: string } = {}): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count <= MOST_OF_ONE) this.#found.push({ code, severity, message, ...more });
  }

  error(code: string, message: string, more: { path?: string; hint?: string } = {}): void {
    this.add("error", code, message, more);
  }

  warning(code: string, message: string, more: { path?: string; hint?: string } = {}): void {
    this.add("warning", code, message, more);
  }

  hint(code: string, message: string, more: { path?: string; hint?: string } = {}): void {
    this.add("hint", code, message, more);
  }

  /** Errors first, then warnings, then hints, each in the order in which they were found. */
  all(): Finding[] {
    const rest = [...this.#counts].flatMap(([code, count]): Finding[] => {
      const severity = this.#found.find((one) => one.code === code)?.severity ?? "hint";
      return count > MOST_OF_ONE
        ? [{ code, severity, message: `The same is so at ${count - MOST_OF_ONE} more places.` }]
        : [];
    });
    return [...this.#found, ...rest].sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  }
}
