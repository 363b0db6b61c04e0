/** The images of own extensions and overlays that files of a schematic are made with now. */
import type { UsedOwn } from "../../../components/result/own-section.tsx";
import { findExtension } from "../../../lib/domain/extension-lookup.ts";
import { ownMark } from "../../../lib/domain/own-mark.ts";
import type { Services } from "../../../lib/services/contracts.ts";
import type { Result } from "./result-target.ts";

/** In the order of the schematic; what the release does not have is left out. */
export async function findUsedOwn(services: Services, { stored, release }: Result): Promise<UsedOwn[]> {
  const { customization, overlay } = stored.schematic;
  const names = customization.systemExtensions?.officialExtensions ?? [];
  const entries = [
    ...new Set(names.map((name) => findExtension(release.extensions, name))),
    release.overlays.find(({ name }) => name === overlay?.name),
  ];
  return Promise.all(
    entries.flatMap((entry) =>
      entry?.own === undefined
        ? []
        : [services.own.requirePin(entry.own.pin).then((pin): UsedOwn => ({ pin, mark: ownMark(entry) }))],
    ),
  );
}
