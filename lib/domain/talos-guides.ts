/** Addresses of Talos' own documentation. */
import { minorLine } from "./versions.ts";

/** A page of the documentation of a release; `path` begins with a slash. Throws invalid_input when the version is none. */
export const talosGuide = (version: string, path: string): string =>
  `https://docs.siderolabs.com/talos/v${minorLine(version)}${path}`;
