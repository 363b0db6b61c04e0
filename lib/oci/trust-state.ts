/** The one place that asks TUF (The Update Framework) for Sigstore's trust root, and the file that keeps what it gave. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";

export interface TufSource {
  /** Base address of the repository. */
  url: string;
  /** First root of another repository than Sigstore's own, whose root the library brings along. */
  rootFile?: string;
}

export interface TrustState {
  /** When TUF last vouched for it, milliseconds. */
  checkedAt: number;
  /** The trusted_root.json. */
  text: string;
  /** TUF's own files, base64 by relative path, without which an older state could be passed off as new. */
  files: Record<string, string>;
}

export type TrustUpdate =
  | { ok: true; state: TrustState }
  | { ok: false; failure: unknown; seed: string | null };

export const SIGSTORE: TufSource = { url: "https://tuf-repo-cdn.sigstore.dev" };

const TARGET = "trusted_root.json";
const TIMEOUT_MS = 5_000;
const stateSchema = z.object({
  checkedAt: z.number(),
  text: z.string(),
  files: z.record(z.string(), z.base64()),
});

/** What was kept; null when there is nothing, or nothing that can be used. */
export async function readTrustState(
  file: string,
  isUsable: (text: string) => boolean,
): Promise<TrustState | null> {
  try {
    const state = stateSchema.parse(JSON.parse(await readFile(file, "utf8")));
    return isUsable(state.text) ? state : null;
  } catch {
    return null;
  }
}

/** Writes the whole state at once, so that processes side by side never see half of one. */
export async function keepTrustState(file: string, state: TrustState): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const partial = `${file}.${randomUUID()}`;
  await writeFile(partial, JSON.stringify(state));
  await rename(partial, file);
}

/** Asks the repository, starting from what was kept. When that fails, `seed` is what the library came with. */
export async function updateTrustState(
  source: TufSource,
  kept: TrustState | null,
  checkedAt: number,
  isUsable: (text: string) => boolean,
): Promise<TrustUpdate> {
  let scratch: string | null = null;
  try {
    scratch = await mkdtemp(join(tmpdir(), "casthouse-tuf-"));
    return await updateIn(scratch, source, kept, checkedAt, isUsable);
  } catch (failure) {
    return { ok: false, failure, seed: null };
  } finally {
    if (scratch !== null) await rm(scratch, { recursive: true, force: true });
  }
}

async function updateIn(
  scratch: string,
  source: TufSource,
  kept: TrustState | null,
  checkedAt: number,
  isUsable: (text: string) => boolean,
): Promise<TrustUpdate> {
  // The library's name for the folder of a repository.
  const { host, pathname } = new URL(source.url);
  const folder = join(scratch, encodeURIComponent(host + pathname.replace(/\/$/, "")));
  await unpack(folder, kept?.files ?? {});
  const target = () => readFile(join(folder, "targets", TARGET), "utf8");
  try {
    // Loaded here only: who brings a file needs no client of the network.
    const { initTUF } = await import("@sigstore/tuf");
    const client = await initTUF({
      cachePath: scratch,
      mirrorURL: source.url,
      ...(source.rootFile === undefined ? {} : { rootPath: source.rootFile }),
      retry: { retries: 1, minTimeout: 500 },
      timeout: TIMEOUT_MS,
    });
    const text = await client.getTarget(TARGET);
    if (!isUsable(text)) throw new Error("it holds keys that this version does not understand");
    return { ok: true, state: { checkedAt, text, files: await pack(folder) } };
  } catch (failure) {
    const seed = await target().catch(() => null);
    return { ok: false, failure, seed: seed !== null && isUsable(seed) ? seed : null };
  }
}

async function unpack(folder: string, files: Record<string, string>): Promise<void> {
  await mkdir(join(folder, "targets"), { recursive: true });
  for (const [name, base64] of Object.entries(files)) {
    if (!/^(targets\/)?[\w%.-]+$/.test(name)) continue;
    await writeFile(join(folder, name), Buffer.from(base64, "base64"));
  }
}

async function pack(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(folder.length + 1)] = (await readFile(path)).toString("base64");
  }
  return files;
}
