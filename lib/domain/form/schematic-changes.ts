/** What a choice changes against the schematic it was opened from, or against a plain one. */
import { diffLists } from "../list-diff.ts";
import { diffFields, type FieldChange } from "../schematic-diff.ts";
import type { Schematic } from "../schematic-types.ts";

export interface ItemChange {
  value: string;
  change: "added" | "removed" | "moved";
}

export interface SchematicChanges {
  extensions: ItemChange[];
  arguments: ItemChange[];
  /** Everything else, by its path in the document. */
  fields: FieldChange[];
}

/** An item that goes in one place and comes in another has moved. */
function itemChanges(before: readonly string[], after: readonly string[]): ItemChange[] {
  const items = diffLists(before, after);
  const added = items.filter(({ change }) => change === "added").map(({ value }) => value);
  const moved = items.flatMap(({ change, value }) => {
    const at = change === "removed" ? added.indexOf(value) : -1;
    return at < 0 ? [] : added.splice(at, 1);
  });
  const left = [...moved];
  const changes: ItemChange[] = [];
  for (const { change, value } of items) {
    const at = left.indexOf(value);
    if (change === "added" && at >= 0) {
      left.splice(at, 1);
      changes.push({ value, change: "moved" });
    } else if (change === "added" || (change === "removed" && !moved.includes(value)))
      changes.push({ value, change });
  }
  return changes;
}

/** Everything that differs; all three lists are empty when both have the same ID. */
export function schematicChanges(before: Schematic, after: Schematic): SchematicChanges {
  const [old, now] = [before.customization, after.customization];
  return {
    extensions: itemChanges(
      old.systemExtensions?.officialExtensions ?? [],
      now.systemExtensions?.officialExtensions ?? [],
    ),
    arguments: itemChanges(old.extraKernelArgs ?? [], now.extraKernelArgs ?? []),
    fields: diffFields(before, after),
  };
}
