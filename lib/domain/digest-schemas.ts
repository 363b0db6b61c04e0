/** SHA-256 in documents that are parsed. */
import { z } from "zod";
import { DIGEST, SHA256_HEX } from "./digest.ts";

export const hexSchema = z.string().regex(SHA256_HEX, "64 lower-case hex digits are expected");
export const digestSchema = z.string().regex(DIGEST, "sha256: and 64 lower-case hex digits are expected");
