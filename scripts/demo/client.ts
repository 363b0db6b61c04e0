/** What the demo asks of the running factory, over HTTP like anybody else. */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

export interface DownloadedFile {
  sha256: string;
  sizeBytes: number;
}

/** Stores the schematic and gives its ID. */
export async function postSchematic(base: string, yaml: string): Promise<string> {
  const reply = await fetch(`${base}/schematics`, { method: "POST", body: yaml });
  if (reply.status !== 201) throw await refused("POST /schematics", reply);
  const { id }: { id: string } = await reply.json();
  return id;
}

/** Waits until the factory has read the list of releases and offers this one. */
export async function waitForVersion(base: string, version: string, timeoutMs: number): Promise<void> {
  for (const end = Date.now() + timeoutMs; ; await sleep(200)) {
    const reply = await fetch(`${base}/versions`);
    const versions: string[] = reply.ok ? await reply.json() : [];
    if (versions.includes(version)) return;
    if (Date.now() > end)
      throw new Error(
        `the factory does not offer ${version}; it offers: ${versions.join(", ") || "nothing"}`,
      );
  }
}

/** Asks for the asset without waiting, then follows its build and tells each new phase. */
export async function buildAsset(base: string, path: string, say: (line: string) => void): Promise<void> {
  // One byte is enough to learn that it is there already.
  const reply = await fetch(base + path, { headers: { Prefer: "respond-async", Range: "bytes=0-0" } });
  if (reply.status === 206) {
    await reply.arrayBuffer();
    return;
  }
  const location = reply.headers.get("Location");
  if (reply.status !== 202 || location === null) throw await refused(path, reply);
  await reply.body?.cancel();
  for (let last = ""; ; await sleep(150)) {
    const state = await fetch(new URL(location, base));
    if (!state.ok) throw await refused(location, state);
    const build: BuildState = await state.json();
    if (build.state === "ready") return;
    if (build.state === "failed" || build.state === "cancelled") {
      throw new Error(
        `building ${path} ${build.state}: ${build.error?.message ?? "no reason given"} ${build.error?.hint ?? ""}`,
      );
    }
    const line = `${build.state}${build.phase ? `, ${build.phase} (step ${build.step} of ${build.of})` : ""}`;
    if (line !== last) say(line);
    last = line;
  }
}

interface BuildState {
  state: string;
  phase: string | null;
  step: number;
  of: number;
  error: { message: string; hint?: string } | null;
}

/** Downloads into a file and holds it against the factory's own checksum. */
export async function download(url: string, file: string): Promise<DownloadedFile> {
  const reply = await fetch(url);
  if (!reply.ok || reply.body === null) throw await refused(url, reply);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(chunksOf(reply.body), counting, createWriteStream(file));
  const sha256 = hash.digest("hex");
  const sidecar = await fetch(`${url}.sha256`);
  if (!sidecar.ok) throw await refused(`${url}.sha256`, sidecar);
  const stated = (await sidecar.text()).trim().split(/\s+/)[0];
  if (stated !== sha256) throw new Error(`${url} has SHA-256 ${sha256}, the factory says ${stated}`);
  return { sha256, sizeBytes };
}

/** The chunks of a body as they come. */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

async function refused(what: string, reply: Response): Promise<Error> {
  const hint = reply.headers.get("X-Error-Hint");
  return new Error(
    `${what} answered ${reply.status}: ${(await reply.text()).trim()}${hint ? ` (${hint})` : ""}`,
  );
}
