/** Checks a schematic against another release and stores the one that fits. */
import { diffLists } from "../../domain/list-diff.ts";
import { machineFor } from "../../domain/machine-target.ts";
import { commandLineWords } from "../../domain/schematic-diff.ts";
import { checkUpgrade } from "../../domain/upgrade/upgrade-check.ts";
import { AppError } from "../../errors/app-error.ts";
import type { ReleaseService, SchematicService } from "../contracts.ts";
import { requireSchematic } from "../locks/model-inputs.ts";
import { requireNewestVersion } from "../releases/newest-version.ts";
import type { KnownReleases, UpgradeReport, UpgradeRequest, UpgradeService } from "./contracts.ts";

export interface UpgradeOptions {
  schematics: SchematicService;
  releases: ReleaseService & KnownReleases;
}

/** The service. Checking reads catalogs only; nothing is built. */
export function createUpgradeService({ schematics, releases }: UpgradeOptions): UpgradeService {
  async function check(request: UpgradeRequest): Promise<UpgradeReport> {
    const stored = await requireSchematic(schematics, request.schematicId);
    const to = await releases.require(request.to ?? (await requireNewestVersion(releases)));
    const from = request.from === null ? null : await releases.require(request.from);
    const target = machineFor(stored.schematic, request.target);
    const { leaveOut } = request;
    const known = await releases.known();
    const { schematic } = stored;
    const check = checkUpgrade({ schematic, from, to, known, target, leaveOut });
    const fresh = commandLineWords({ schematic: check.migrated.schematic, release: to }, target);
    const old = from && commandLineWords({ schematic, release: from }, target);
    return {
      ...{ stored, from: from?.version ?? null, to: to.version, sample: to.sample, target, check },
      commandLine: old && diffLists(old, fresh),
    };
  }

  return {
    check,
    async migrate(request) {
      const report = await check(request);
      if (!report.check.ready) {
        throw new AppError("conflict", `the schematic does not fit Talos ${report.to} yet`, {
          hint: "GET /api/v1/schematics/<id>/upgrade names what is in the way and what can be left out.",
          retryable: false,
        });
      }
      return { stored: await schematics.create(report.check.migrated.canonical), report };
    },
  };
}
