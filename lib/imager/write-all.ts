/** Writing into a file at a place. */
import type { FileHandle } from "node:fs/promises";

/** Writes all bytes; one write call may take fewer than it was given. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}
