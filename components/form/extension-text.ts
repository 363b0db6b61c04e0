/** What the form needs of how extensions are shown. */
export { matchesSearch, type ShownExtension, showExtension } from "../../lib/domain/extension-text.ts";
