/** The upgrade check as its address and its form spell it. */
import { readSide } from "../../lib/domain/compare-side.ts";
import { readMachineTarget, writeMachineTarget } from "../../lib/domain/machine-target.ts";
import type { UpgradeRequest } from "../../lib/services/catalog/contracts.ts";

/** A hundred parts are more than any schematic has to leave out by hand. */
const MOST_PARTS = 100;

/** What is asked; null when the text names no schematic. An installer reference may bring the running version along. */
export function readUpgrade(query: URLSearchParams): UpgradeRequest | null {
  const written = readSide(query.get("id") ?? "");
  if (written === null || written.id === null) return null;
  return {
    schematicId: written.id,
    from: query.get("from") || written.version,
    to: query.get("to") || null,
    target: readMachineTarget(query),
    leaveOut: query.getAll("leave-out").slice(0, MOST_PARTS),
  };
}

/** The fields that readUpgrade turns back into this. */
export function upgradeFields(request: UpgradeRequest): [name: string, value: string][] {
  const { schematicId, from, to, target, leaveOut } = request;
  return [
    ["id", schematicId],
    ...(from === null ? [] : [["from", from] satisfies [string, string]]),
    ...(to === null ? [] : [["to", to] satisfies [string, string]]),
    ...Object.entries(writeMachineTarget(target)),
    ...leaveOut.map((part): [string, string] => ["leave-out", part]),
  ];
}

/** Address of the files of a schematic on a version. */
export function filesPath(id: string, version: string, target: UpgradeRequest["target"]): string {
  return `/schematics/${id}?${new URLSearchParams({ version, ...writeMachineTarget(target) })}`;
}
