/** Machines one stands in front of: sticks, disks and cards to write. */
import { BOARD_DISK_PATH } from "../boards.ts";
import { downloadsFor } from "../form/downloads.ts";
import { fileStem, offersPlatform } from "./addresses.ts";
import { chain, fetchSteps, unpacked } from "./shell.ts";
import type { Snippet, SnippetContext, SnippetNote, SnippetText } from "./types.ts";

const DISK = { name: "DISK", value: "/dev/sdX" };

function writing(context: SnippetContext, path: string, note: SnippetNote, write: string): SnippetText {
  return {
    language: "sh",
    variables: [{ ...DISK, note }],
    body: chain([...fetchSteps(context, path), write]),
    files: [path],
  };
}

const DD = 'sudo dd of="$DISK" bs=4M conv=fsync status=progress';

const usb: Snippet = {
  id: "usb",
  name: null,
  group: "machine",
  applies: (context) => offersPlatform(context, "metal"),
  fits: ({ platform, board }) => platform === "metal" && board === null,
  write(context) {
    const path = `${fileStem(context, "metal")}.iso`;
    return writing(context, path, "stick", `${DD.replace("dd ", `dd if=${path} `)}`);
  },
};

const disk: Snippet = {
  id: "disk",
  name: null,
  group: "machine",
  applies: (context) => offersPlatform(context, "metal"),
  fits: () => false,
  write(context) {
    const path = `${fileStem(context, "metal")}.raw.zst`;
    return writing(context, path, "target-disk", `zstd -dc ${path} | ${DD}`);
  },
};

const isRaspberry = ({ board }: SnippetContext): boolean => board?.overlay.startsWith("rpi_") ?? false;

const raspberry: Snippet = {
  id: "rpi-imager",
  name: "Raspberry Pi Imager",
  group: "machine",
  applies: isRaspberry,
  fits: isRaspberry,
  write: (context) =>
    writing(context, BOARD_DISK_PATH, "card", `sudo rpi-imager --cli ${BOARD_DISK_PATH} "$DISK"`),
};

const board: Snippet = {
  id: "board",
  name: null,
  group: "machine",
  applies: (context) => context.board !== null,
  fits: (context) => context.board !== null && !isRaspberry(context),
  write: (context) => writing(context, BOARD_DISK_PATH, "card", `xz -dc ${BOARD_DISK_PATH} | ${DD}`),
};

/** The file that the target asks for first. */
const mainFile = (context: SnippetContext): string | null =>
  downloadsFor({ ...context, board: context.board !== null }).first[0]?.path ?? null;

const download: Snippet = {
  id: "download",
  name: null,
  group: "machine",
  applies: (context) => mainFile(context) !== null,
  fits: () => false,
  write(context) {
    const path = mainFile(context) ?? "";
    return {
      language: "sh",
      variables: [],
      body: chain([...fetchSteps(context, path), ...unpacked(path).steps]),
      files: [path],
    };
  },
};

export const MACHINE_SNIPPETS: readonly Snippet[] = [usb, disk, raspberry, board, download];
