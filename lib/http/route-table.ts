/** Which paths exist, with which methods, and where an unclean spelling of one should be sent. Pure. */

export interface Route {
  /** Upper-case method, HEAD only where HEAD is really answered. */
  method: string;
  /** "/image/:schematic/:version/:path"; a last segment "*" takes the rest. */
  pattern: string;
}

export type Match =
  | { kind: "found" }
  | { kind: "wrong-method"; allow: string }
  | { kind: "moved"; location: string }
  | { kind: "unknown" };

interface Pattern {
  segments: string[];
  methods: Set<string>;
}

/** A segment matches itself, a ":name" anything but nothing, "*" all that is left. */
function fits(pattern: string[], path: string[]): boolean {
  for (const [i, segment] of pattern.entries()) {
    if (segment === "*") return path.length >= i;
    const have = path[i];
    if (have === undefined) return false;
    if (segment.startsWith(":") ? have === "" : segment !== have) return false;
  }
  return pattern.length === path.length;
}

/** Resolves ".", "..", empty segments and a trailing slash (RFC 3986 §5.2.4, then without empty segments). */
export function cleanPath(path: string): string {
  const out: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") out.pop();
    else out.push(segment);
  }
  return `/${out.join("/")}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export class RouteTable {
  private readonly patterns: Pattern[] = [];
  private readonly fixed = new Map<string, Pattern>();

  constructor(routes: Iterable<Route>) {
    const byPattern = new Map<string, Pattern>();
    for (const { method, pattern } of routes) {
      const known = byPattern.get(pattern);
      if (known) known.methods.add(method);
      else byPattern.set(pattern, { segments: pattern.slice(1).split("/"), methods: new Set([method]) });
    }
    for (const [text, pattern] of byPattern) {
      if (/[:*]/.test(text)) this.patterns.push(pattern);
      else this.fixed.set(text, pattern);
    }
  }

  private find(path: string): Pattern | undefined {
    const fixed = this.fixed.get(path);
    if (fixed) return fixed;
    const segments = path.slice(1).split("/");
    return this.patterns.find((p) => fits(p.segments, segments));
  }

  /** The same path with the letter case of the fixed segments, when that names a route with the method. */
  private recased(method: string, path: string): string | null {
    const segments = path.slice(1).split("/");
    const lower = path.toLowerCase();
    for (const [text, p] of this.fixed) if (text === lower && p.methods.has(method)) return text;
    for (const p of this.patterns) {
      const guess = segments.map((s, i) => {
        const want = p.segments[i];
        return want && !/^[:*]/.test(want) && want === s.toLowerCase() ? want : s;
      });
      if (p.methods.has(method) && fits(p.segments, guess)) return `/${guess.join("/")}`;
    }
    return null;
  }

  /** Methods for an Allow header, sorted, OPTIONS included. */
  allow(path: string): string | null {
    const found = this.find(path);
    return found ? [...found.methods, "OPTIONS"].sort().join(", ") : null;
  }

  /**
   * What to do with a request. The path is the raw one of the request line, without query. Trailing slashes,
   * dot segments, doubled slashes and letter case lead to the known route only when the method fits it.
   */
  match(method: string, path: string): Match {
    const found = this.find(path);
    if (found?.methods.has(method)) return { kind: "found" };
    if (found) return { kind: "wrong-method", allow: this.allow(path) ?? "" };
    const clean = cleanPath(decoded(path));
    const target = this.find(clean)?.methods.has(method) ? clean : this.recased(method, clean);
    if (target && target !== path && !/[^\x21-\x7e]/.test(target)) return { kind: "moved", location: target };
    return { kind: "unknown" };
  }
}
