/** The ID of a schematic: SHA-256 over its canonical text, in pages served over plain HTTP too (no Web Crypto). */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { SHA256_HEX } from "./digest.ts";
import { canonicalSchematic } from "./schematic-canonical.ts";
import type { Schematic } from "./schematic-types.ts";

/** True for what can be an ID. */
export const isSchematicId = (text: string): boolean => SHA256_HEX.test(text);

/** ID of a canonical text: 64 lower-case hex digits. */
export const idOfText = (canonical: string): string => bytesToHex(sha256(utf8ToBytes(canonical)));

/** ID of a schematic: 64 lower-case hex digits. */
export const schematicId = (schematic: Schematic): string => idOfText(canonicalSchematic(schematic));
