/** Single board computers: which overlay makes a generic arm64 image boot on which board. */
import rows from "./data/sbcs.json" with { type: "json" };

export interface Board {
  name: string;
  label: string;
  /** What the schematic stores as overlay.name and overlay.image. */
  overlayName: string;
  overlayImage: string;
  /** First release that offers it, by full precedence; null means from the first release with overlays. */
  minVersion: string | null;
  /** Path below the documentation base of a release, null when there is no page. */
  documentation: string | null;
}

/** In the order of the user interface. All of them are arm64 on platform metal. */
export const BOARDS: readonly Board[] = rows;

/** The first release that knows overlays. */
export const FIRST_BOARD_VERSION = "1.7.0";

/** The disk image that every board boots from. */
export const BOARD_DISK_PATH = "metal-arm64.raw.xz";

/** The board with this exact name, or null. */
export function findBoard(name: string): Board | null {
  return BOARDS.find((board) => board.name === name) ?? null;
}

/** The board that uses this overlay, found by overlay name and image; null for overlays without a board. */
export function findBoardByOverlay(overlay: { name: string; image: string }): Board | null {
  return (
    BOARDS.find((board) => board.overlayName === overlay.name && board.overlayImage === overlay.image) ?? null
  );
}
