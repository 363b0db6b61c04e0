/** The folder that layers are applied to: every write stays inside it and never goes through a link. */
import { constants, type Stats } from "node:fs";
import { chmod, copyFile, lstat, mkdir, open, readdir, readlink, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors/app-error.ts";

/** Upper bound of a link's text, as Linux has it. */
const MAX_LINK_BYTES = 4095;

/** Parts of a cleaned path; source_invalid for "..", which has no business in a layer. A leading "/" is the tree's top. */
export function cleanEntryPath(what: string, name: string): string {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..") || name.includes("\0")) throw refusedEntry(what, name, "its name leaves the tree");
  return parts.join("/");
}

/** source_invalid naming the image, the entry and why it is not unpacked. */
export function refusedEntry(what: string, name: string, reason: string): AppError {
  const shown = JSON.stringify(name.slice(0, 300));
  return new AppError("source_invalid", `the layer entry ${shown} of ${what} is refused: ${reason}`, {
    hint: "The image is damaged or hostile; nothing of it is used",
    retryable: false,
  });
}

/** One tree under construction; layers are applied from the lowest to the uppermost. */
export class LayerTree {
  readonly labels = new Map<string, string>();
  /** Folders known to be real folders. */
  readonly #folders = new Set<string>([""]);
  /** What the present layer has put in place, with all parents: its own whiteouts do not touch it. */
  #own = new Set<string>();

  constructor(
    readonly dir: string,
    readonly what: string,
  ) {}

  startLayer(): void {
    this.#own = new Set();
  }

  /** A folder with the layer's mode, always open to its owner. */
  async folder(path: string, mode: number): Promise<void> {
    if (path === "") return;
    await this.#parents(path);
    const found = await this.#found(path);
    if (!found?.isDirectory()) {
      if (found) await this.remove(path);
      await mkdir(join(this.dir, path));
      this.#folders.add(path);
    }
    await chmod(join(this.dir, path), (mode & 0o777) | 0o700);
    this.#claim(path);
  }

  /** A regular file from its chunks; what was there before is replaced. */
  async file(path: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#vacate(path);
    const file = await open(join(this.dir, path), "wx", 0o600);
    try {
      for await (const chunk of content) {
        for (let done = 0; done < chunk.byteLength; ) {
          done += (await file.write(chunk, done, chunk.byteLength - done)).bytesWritten;
        }
      }
      await file.chmod(mode & 0o7777);
    } finally {
      await file.close();
    }
    this.#claim(path);
  }

  /** A symbolic link, verbatim. Relative targets that climb above the tree are refused, absolute ones belong to the booted system. */
  async link(path: string, target: string): Promise<void> {
    if (
      target === "" ||
      target.includes("\0") ||
      Buffer.byteLength(target) > MAX_LINK_BYTES ||
      climbs(path, target)
    ) {
      throw refusedEntry(this.what, path, "its link target leaves the tree");
    }
    await this.#vacate(path);
    await symlink(target, join(this.dir, path));
    this.#claim(path);
  }

  /** A hard link as a copy of what it names; gives the bytes that were copied. */
  async copy(path: string, target: string, allowed: (sizeBytes: number) => void): Promise<void> {
    if (path === target) return;
    await this.#parents(target, "look");
    const found = await lstat(join(this.dir, target)).catch(() => null);
    if (found?.isSymbolicLink()) return this.link(path, await readlink(join(this.dir, target)));
    if (!found?.isFile())
      throw refusedEntry(this.what, path, `it is a hard link to ${target}, which is not there`);
    if (target.startsWith(`${path}/`))
      throw refusedEntry(this.what, path, "it replaces the folder it links into");
    allowed(found.size);
    await this.#vacate(path);
    await copyFile(
      join(this.dir, target),
      join(this.dir, path),
      constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL,
    );
    await chmod(join(this.dir, path), found.mode & 0o7777);
    const label = this.labels.get(target);
    if (label !== undefined) this.labels.set(path, label);
    this.#claim(path);
  }

  /** A whiteout: hides what lower layers have at the path (OCI image-spec, whiteouts). */
  async hide(path: string): Promise<void> {
    if (await this.#parents(path, "look")) await this.#hideLower(path);
  }

  /** An opaque whiteout: hides everything that lower layers have in the folder. */
  async hideChildren(path: string): Promise<void> {
    if (path !== "" && !((await this.#parents(path, "look")) && (await this.#isFolder(path)))) return;
    for (const name of await readdir(join(this.dir, path))) {
      await this.#hideLower(path === "" ? name : `${path}/${name}`);
    }
  }

  async #hideLower(path: string): Promise<void> {
    if (!this.#own.has(path)) return this.remove(path);
    if (await this.#isFolder(path)) await this.hideChildren(path);
  }

  /** Removes a path with everything below, and what is remembered about it. Nothing there, nothing done. */
  async remove(path: string): Promise<void> {
    const found = await this.#found(path);
    if (!found) return;
    await rm(join(this.dir, path), { recursive: true, force: true });
    // A walk over all that is known, as often as the archive asks for it, only where there may be something below.
    if (found.isDirectory()) this.#forgetBelow(`${path}/`);
    for (const known of [this.labels, this.#folders, this.#own]) known.delete(path);
  }

  #forgetBelow(folder: string): void {
    for (const known of [this.labels, this.#folders, this.#own]) {
      for (const key of known.keys()) if (key.startsWith(folder)) known.delete(key);
    }
  }

  async #vacate(path: string): Promise<void> {
    if (path === "") throw refusedEntry(this.what, path, "it replaces the top of the tree");
    await this.#parents(path);
    await this.remove(path);
  }

  /** Makes missing parents, or with "look" says whether all are there. A parent that is not a folder is refused. */
  async #parents(path: string, mode: "make" | "look" = "make"): Promise<boolean> {
    const parts = path.split("/").slice(0, -1);
    let parent = "";
    for (const part of parts) {
      parent = parent === "" ? part : `${parent}/${part}`;
      if (this.#folders.has(parent)) continue;
      const found = await lstat(join(this.dir, parent)).catch(() => null);
      if (!found && mode === "look") return false;
      if (!found) await mkdir(join(this.dir, parent), { mode: 0o700 });
      else if (!found.isDirectory()) throw refusedEntry(this.what, path, `${parent} is not a folder`);
      this.#folders.add(parent);
    }
    return true;
  }

  async #isFolder(path: string): Promise<boolean> {
    return (await this.#found(path))?.isDirectory() ?? false;
  }

  /** What is there, links not followed; null for nothing. */
  async #found(path: string): Promise<Stats | null> {
    return lstat(join(this.dir, path)).catch(() => null);
  }

  #claim(path: string): void {
    for (let at = path; at !== "" && !this.#own.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      this.#own.add(at);
    }
  }
}

/** True when a relative link target, followed from the link's folder, passes above the top of the tree. */
function climbs(path: string, target: string): boolean {
  if (target.startsWith("/")) return false;
  let depth = path.split("/").length - 1;
  for (const part of target.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
