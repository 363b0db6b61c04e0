/** Who uses what a source brings. */
import type { OwnSourceRepository } from "../../db/own-source-repository.ts";
import type { OwnPin } from "../../domain/own-sources.ts";
import type { FindConfigured } from "../schematics/hidden-schematics.ts";
import type { RemovedSource } from "./contracts.ts";

const MOST_NAMED = 1_000;
const MOST_SHOWN = 100;

/** Schematics that name something of a source; those that open a configuration are only counted. */
export async function usageOf(
  { rows, findConfigured }: { rows: OwnSourceRepository; findConfigured: FindConfigured },
  id: string,
): Promise<RemovedSource> {
  const pins = await rows.pins({ sourceId: id });
  const namesOf = (subject: OwnPin["subject"]) => [
    ...new Set(pins.filter((pin) => pin.subject === subject).map((pin) => pin.name)),
  ];
  const names = { extensions: namesOf("extension"), overlays: namesOf("overlay") };
  const all = await rows.schematicsNaming(names, MOST_NAMED);
  const secret = new Set(await findConfigured(all));
  return { schematics: all.filter((one) => !secret.has(one)).slice(0, MOST_SHOWN), hidden: secret.size };
}
