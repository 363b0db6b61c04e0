/** Gives a file a second place, from which any account can read it. */
import { chmod, copyFile, link, stat } from "node:fs/promises";

const FOR_ALL = 0o444;

/** A second name where that will do, else a copy. The file itself stays as it is. */
export async function placeReadable(source: string, target: string): Promise<void> {
  const readable = ((await stat(source)).mode & FOR_ALL) === FOR_ALL;
  if (
    readable &&
    (await link(source, target).then(
      () => true,
      () => false,
    ))
  )
    return;
  await copyFile(source, target);
  await chmod(target, 0o644);
}
