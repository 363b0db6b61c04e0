/** Finds out where each file of a schematic stands. */
import type { FileState } from "../../../components/result/file-state.ts";
import type { FileChoice } from "../../../lib/domain/form/downloads.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import type { Services } from "../../../lib/services/contracts.ts";

interface Question {
  schematicId: string;
  /** Tag with "v". */
  version: string;
  files: FileChoice[];
}

/** A browser opens six connections to a host; events of a build keep one, and some must stay for everything else. */
const FOLLOWED_BUILDS = 3;

/** States in the order of the files. Never starts work. */
export async function findFileStates(services: Services, question: Question): Promise<FileState[]> {
  const looked = await Promise.all(question.files.map((file) => look(services, question, file)));
  const keys = looked.flatMap((one) => (one.state === "absent" ? [one.assetKey] : []));
  const running = await services.builds.findRunning(keys, question.schematicId);
  let followed = 0;
  return looked.map((one): FileState => {
    if (one.state !== "absent") return one;
    const { assetKey, ...file } = one;
    const build = running.find((candidate) => candidate.assetKey === assetKey);
    return build ? { ...file, state: "building", build, follow: followed++ < FOLLOWED_BUILDS } : file;
  });
}

type Looked =
  | Exclude<FileState, { state: "absent" | "building" }>
  | (Extract<FileState, { state: "absent" }> & { assetKey: string });

async function look(
  { assets }: Services,
  { schematicId, version }: Question,
  file: FileChoice,
): Promise<Looked> {
  try {
    const resolved = await assets.resolve({ schematicId, version, path: file.path });
    if (assets.inline(resolved) !== null) return { ...file, state: "inline" };
    const asset = await assets.findReady(resolved.assetKey);
    if (asset !== null) return { ...file, state: "ready", asset };
    return { ...file, state: "absent", assetKey: resolved.assetKey };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { ...file, state: "refused", reason: error.message, hint: error.extra.hint ?? "" };
  }
}
