/** What a document may hold at most; hostile input ends here, real schematics stay far below. docs/schematics.md. */

/** Bytes of a schematic text. */
export const MAX_TEXT_BYTES = 1024 * 1024;

/** Nesting of lists and maps. */
export const MAX_DEPTH = 100;

/** Scalars, brackets, dashes, colons and other tokens of a document. */
export const MAX_TOKENS = 100_000;

/** Nesting after aliases are expanded, aliases counted too. */
export const MAX_EXPANDED_DEPTH = 2 * MAX_DEPTH;

/** Values that aliases may add to a document, counted after expansion. */
export const MAX_ALIASED_NODES = 10_000;

/** Characters that aliases may add to a document, counted after expansion. */
export const MAX_ALIASED_CHARACTERS = 1024 * 1024;

/** Type errors reported for one document; later ones are left out. */
export const MAX_REPORTED_ERRORS = 1000;

/** Characters of one reported problem; texts out of the document are cut there. */
export const MAX_PROBLEM_CHARACTERS = 400;

/** Bytes of all reported problems; the one that reaches it is the last. */
export const MAX_REPORTED_BYTES = 64 * 1024;

/** Characters of a quoted key that is shown whole; of a longer one CUT_KEY_CHARACTERS are shown. */
export const MAX_KEY_CHARACTERS = 160;
export const CUT_KEY_CHARACTERS = 100;

/** Characters of the canonical text. */
export const MAX_CANONICAL_CHARACTERS = 8 * 1024 * 1024;
