/** Tells on standard error what a build is doing, one line per step. */
import type { BuildProgress } from "../lib/imager/types.ts";

/** A listener that writes lines; `log` lines are shown as they are. */
export function progressWriter(write: (line: string) => void): (event: BuildProgress) => void {
  const titles = new Map<number, string>();
  return (event) => {
    switch (event.type) {
      case "phase":
        titles.set(event.step, `[${event.step}/${event.of}] ${event.title}`);
        return;
      case "done":
        write(`${titles.get(event.step) ?? `[${event.step}]`} (${(event.ms / 1000).toFixed(1)} s)`);
        return;
      case "log":
        write(event.line);
        return;
      case "progress":
        return;
    }
  };
}
