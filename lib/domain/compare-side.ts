/** What people write to name one side of a comparison: an ID, a version, both, or an address that holds them. */
import { parseVersion } from "./versions.ts";

export interface WrittenSide {
  /** Null when none is written. */
  id: string | null;
  /** Tag with "v"; null when none is written. */
  version: string | null;
}

const ID = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;
const VERSION =
  /(?<![0-9A-Za-z.])v?((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:alpha|beta|rc)\.\d+)?)(?![0-9.])/;
const LONGEST = 4096;

/**
 * Finds ID and version in `<id>`, `v1.13.2`, `<id>@v1.13.2`, an installer reference or the address of a file or page.
 * Null for an empty text or one that holds neither.
 */
export function readSide(written: string): WrittenSide | null {
  const text = written.trim().slice(0, LONGEST);
  const id = ID.exec(text)?.[0] ?? null;
  // What stands before an ID may be a host whose name has numbers; only what follows it counts then.
  const rest = id === null ? text : text.slice(text.indexOf(id) + id.length);
  const number = VERSION.exec(rest)?.[1];
  const version = number === undefined || parseVersion(number) === null ? null : `v${number}`;
  return id === null && version === null ? null : { id, version };
}

/** The short form that readSide reads again. */
export const writeSide = ({ id, version }: WrittenSide): string =>
  [id, version].filter((part) => part !== null).join("@");

/**
 * Both sides complete: what one leaves out is taken from the other, so that an ID against a version means the same
 * schematic; only then the version of the first is `newest`, as it is when nobody says one.
 */
export function settleSides(
  a: WrittenSide,
  b: WrittenSide,
  newest: string,
): [{ id: string | null; version: string }, { id: string | null; version: string }] {
  const settle = (one: WrittenSide, other: WrittenSide) => ({
    id: one.id ?? other.id,
    version: one.version ?? (other.id === null ? null : other.version) ?? newest,
  });
  return [settle(a, b), settle(b, a)];
}
