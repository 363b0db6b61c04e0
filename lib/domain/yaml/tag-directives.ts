/** %YAML and %TAG lines in front of a document, and the tags they explain. YAML 1.1 section 6.8. */
import { loadError, loadErrorWithin, type Mark } from "./failure.ts";
import type { Scanner } from "./scanner.ts";
import type { Token } from "./tokens.ts";

export class TagDirectives {
  private readonly prefixes = new Map<string, string>();

  /** Reads directives up to the document start. Only version 1.1 is understood. */
  read(scanner: Scanner): void {
    let versions = 0;
    for (;;) {
      const token = scanner.peek();
      if (token.type === "version-directive") {
        versions += 1;
        if (versions > 1) throw loadError("parser", "found duplicate %YAML directive", token.start);
        if (token.text !== "1.1") throw loadError("parser", "found incompatible YAML document", token.start);
      } else if (token.type === "tag-directive") {
        if (this.prefixes.has(token.text)) {
          throw loadError("parser", "found duplicate %TAG directive", token.start);
        }
        this.prefixes.set(token.text, token.suffix);
      } else {
        return;
      }
      scanner.skip();
    }
  }

  /** Full tag of a tag token; `start` is where its node begins. */
  resolve(token: Token, start: Mark): string {
    if (token.text === "") return token.suffix;
    const standard = token.text === "!" ? "!" : token.text === "!!" ? "tag:yaml.org,2002:" : undefined;
    const prefix = this.prefixes.get(token.text) ?? standard;
    if (prefix !== undefined) return prefix + token.suffix;
    const context = { doing: "while parsing a node", from: start };
    throw loadErrorWithin("parser", context, "found undefined tag handle", token.start);
  }
}
