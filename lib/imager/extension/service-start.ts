/** Checks of when a service starts: what it waits for, and whether it starts again. */
import type { Findings } from "./findings.ts";
import { isRecord } from "./service-values.ts";

const RESTART = ["always", "never", "untilSuccess"];
const NETWORK = ["addresses", "connectivity", "hostname", "etcfiles"];

/** `restart` of a definition. */
export function checkRestart(restart: unknown, path: string, findings: Findings): void {
  if (restart === undefined)
    findings.hint("service-restart-unset", `${path} does not say whether the service starts again`, {
      path,
      hint: `Write restart: ${RESTART.join(", or ")}.`,
    });
  else if (typeof restart !== "string" || !RESTART.includes(restart))
    findings.error("service-restart", `restart in ${path} is ${JSON.stringify(restart)}`, {
      path,
      hint: `It may be ${RESTART.join(", ")}.`,
    });
}

/** `depends` of a definition: a list whose members have one key each. */
export function checkDepends(depends: unknown, path: string, findings: Findings): void {
  if (depends === undefined || depends === null) return;
  const members: unknown[] = Array.isArray(depends) ? depends : [depends];
  if (!Array.isArray(depends))
    findings.error("service-depends", `depends in ${path} is no list`, { path, hint: "- service: cri" });
  else
    for (const member of members) {
      const problem = problemOf(member);
      if (problem !== null)
        findings.error("service-depends", `depends in ${path}: ${problem}`, {
          path,
          hint: `Each is one of service: <name>, path: <absolute path>, network: [${NETWORK.join(", ")}], configuration: true, time: true.`,
        });
    }
}

function problemOf(member: unknown): string | null {
  const shown = JSON.stringify(member);
  if (!isRecord(member)) return `${shown} is no pair of key and value`;
  const [pair, ...more] = Object.entries(member);
  if (pair === undefined || more.length > 0) return `${shown} has not exactly one key`;
  const [kind, value] = pair;
  switch (kind) {
    case "service":
      return typeof value === "string" && value !== "" ? null : "service needs the name of a service";
    case "path":
      return typeof value === "string" && value.startsWith("/") ? null : "path needs an absolute path";
    case "configuration":
    case "time":
      return typeof value === "boolean" ? null : `${kind} needs true or false`;
    case "network": {
      const states: unknown[] = Array.isArray(value) ? value : [null];
      const unknown = states.find((state) => typeof state !== "string" || !NETWORK.includes(state));
      return unknown === undefined ? null : `network does not know ${JSON.stringify(unknown)}`;
    }
    default:
      return `there is no dependency ${JSON.stringify(kind)}`;
  }
}
