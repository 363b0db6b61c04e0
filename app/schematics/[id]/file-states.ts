/** Finds out where each file of a schematic stands. */
import type { FileState } from "../../../components/result/file-state.ts";
import { isRunning } from "../../../lib/domain/build-state.ts";
import type { FileChoice } from "../../../lib/domain/form/downloads.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import type { Services } from "../../../lib/services/contracts.ts";

interface Question {
  schematicId: string;
  /** Tag with "v". */
  version: string;
  files: FileChoice[];
}

const RECENT = 100;

/** States in the order of the files. Never starts work. */
export async function findFileStates(services: Services, question: Question): Promise<FileState[]> {
  const { schematicId, version, files } = question;
  const builds = await services.builds.list({ schematicId, limit: RECENT });
  const running = builds.filter((build) => isRunning(build.state));
  return Promise.all(
    files.map(async (file): Promise<FileState> => {
      try {
        const resolved = await services.assets.resolve({ schematicId, version, path: file.path });
        if (services.assets.inline(resolved) !== null) return { ...file, state: "inline" };
        const asset = await services.assets.findReady(resolved.assetKey);
        if (asset !== null) return { ...file, state: "ready", asset };
        const build = running.find((candidate) => candidate.assetKey === resolved.assetKey);
        return build ? { ...file, state: "building", build } : { ...file, state: "absent" };
      } catch (error) {
        if (!isAppError(error)) throw error;
        return { ...file, state: "refused", reason: error.message, hint: error.extra.hint ?? "" };
      }
    }),
  );
}
