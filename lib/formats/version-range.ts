/** Version ranges as extension manifests write them: ">= v1.5.0 < v2.0.0 || 1.4.x", tested on core versions only. */

export interface CoreVersion {
  major: number;
  minor: number;
  patch: number;
}

type Comparison = (version: CoreVersion) => boolean;

const TERM =
  /^(>=|<=|!=|==|=|>|<|!)?\s*(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

const isWild = (part: string | undefined): boolean => part === undefined || /^[xX*]$/.test(part);

const compare = (a: CoreVersion, b: CoreVersion): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch;

/**
 * Is `version` inside `range`? Alternatives are split at "||", conditions inside one at spaces; "v" before a digit is
 * ignored, and so are pre-releases on both sides. Null when the range cannot be read.
 */
export function isInVersionRange(range: string, version: CoreVersion): boolean | null {
  const plain = range.replace(/v(?=\d)/g, "");
  let matched = false;
  for (const alternative of plain.split("||")) {
    const conditions = alternative
      .trim()
      .replace(/(>=|<=|!=|==|=|>|<|!)\s+/g, "$1")
      .split(/\s+/)
      .map(readTerm);
    if (conditions.some((condition) => condition === null)) return null;
    if (conditions.every((condition) => condition?.(version))) matched = true;
  }
  return matched;
}

function readTerm(text: string): Comparison | null {
  const match = TERM.exec(text);
  if (!match) return null;
  const [, operator = "=", major = "0", minor, patch] = match;
  if (isWild(major)) return operator === "=" ? () => true : null;
  const low = {
    major: Number(major),
    minor: isWild(minor) ? 0 : Number(minor),
    patch: isWild(minor) || isWild(patch) ? 0 : Number(patch),
  };
  /** First version above everything the term covers; x-ranges cover more than one version. */
  const above = isWild(minor)
    ? { major: low.major + 1, minor: 0, patch: 0 }
    : isWild(patch)
      ? { ...low, minor: low.minor + 1 }
      : { ...low, patch: low.patch + 1 };
  const inside = (version: CoreVersion) => compare(version, low) >= 0 && compare(version, above) < 0;
  switch (operator) {
    case ">=":
      return (version) => compare(version, low) >= 0;
    case ">":
      return (version) => compare(version, above) >= 0;
    case "<":
      return (version) => compare(version, low) < 0;
    case "<=":
      return (version) => compare(version, above) < 0;
    case "!=":
    case "!":
      return (version) => !inside(version);
    default:
      return inside;
  }
}
