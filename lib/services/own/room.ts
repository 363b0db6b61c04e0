/** The room for own images: nothing comes that would not fit, and nothing is kept that is not counted. */
import type { OwnKeptRepository } from "../../db/own-kept-repository.ts";
import type { RegistryBlob } from "../../domain/registry-content.ts";
import { AppError } from "../../errors/app-error.ts";

export interface Arrival {
  /** out_of_space when so many more bytes would not fit. */
  require(bytes: number): void;
  /** Counts bytes that come now; the same. */
  take(bytes: number): void;
  /** They are kept, or gone. */
  end(): void;
}

export interface OwnRoom {
  /** For one upload or look: counts what is on its way beside what is kept already. */
  arrive(): Promise<Arrival>;
  /** Bytes of those blobs that are not kept yet. */
  missing(blobs: readonly RegistryBlob[]): Promise<number>;
  /** Stores blobs once they are counted; out_of_space when they do not fit. */
  keep(repository: string, blobs: readonly RegistryBlob[], store: () => Promise<void>): Promise<void>;
}

/** The room of one process: what arrives is counted here, what is kept over all processes. */
export function createOwnRoom({ rows, mostBytes }: { rows: OwnKeptRepository; mostBytes: number }): OwnRoom {
  let arriving = 0;
  return {
    async arrive() {
      const { usedBytes } = await rows.measure([]);
      let mine = 0;
      const require = (bytes: number) => {
        if (usedBytes + arriving + bytes > mostBytes) throw full(mostBytes, usedBytes + arriving);
      };
      return {
        require,
        take(bytes) {
          require(bytes);
          mine += bytes;
          arriving += bytes;
        },
        end() {
          arriving -= mine;
          mine = 0;
        },
      };
    },
    missing: async (blobs) => (await rows.measure(blobs)).moreBytes,
    async keep(repository, blobs, store) {
      const { claimed, usedBytes } = await rows.claim(repository, blobs, mostBytes);
      if (claimed === null) throw full(mostBytes, usedBytes);
      try {
        await store();
      } catch (error) {
        await rows.unclaim(repository, claimed);
        throw error;
      }
    },
  };
}

const inMib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1).replace(/\.0$/, "")} MiB`;

function full(mostBytes: number, usedBytes: number): AppError {
  return new AppError(
    "out_of_space",
    `Own extensions and overlays may take ${inMib(mostBytes)} together, ${inMib(usedBytes)} are taken, and this one does not fit`,
    {
      hint: "The operator can raise OWN_EXTENSIONS_MAX_TOTAL. Retired images count too: files and locks may need them.",
      retryable: false,
    },
  );
}
