/** Tokens between the scanner and the parser. */
import type { Mark } from "./failure.ts";

export type TokenType =
  | "stream-end"
  | "version-directive"
  | "tag-directive"
  | "document-start"
  | "document-end"
  | "block-sequence-start"
  | "block-mapping-start"
  | "block-end"
  | "flow-sequence-start"
  | "flow-sequence-end"
  | "flow-mapping-start"
  | "flow-mapping-end"
  | "block-entry"
  | "flow-entry"
  | "key"
  | "value"
  | "alias"
  | "anchor"
  | "tag"
  | "scalar";

export interface Token {
  type: TokenType;
  start: Mark;
  end: Mark;
  /** Text of a scalar, name of an anchor or alias, handle of a tag, version of a directive. */
  text: string;
  /** Suffix of a tag or prefix of a tag directive. */
  suffix: string;
  /** Scalars: true unless plain. */
  quoted: boolean;
}

/** A token without text. */
export const signToken = (type: TokenType, start: Mark, end: Mark): Token => ({
  type,
  start,
  end,
  text: "",
  suffix: "",
  quoted: false,
});
