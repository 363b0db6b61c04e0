/** The program that new extensions start with: made without a compiler, it writes a text to standard output and sleeps for ever. */
import type { Arch } from "../../domain/asset.ts";
import { ELF_MACHINES } from "../../formats/elf.ts";

const BASE = 0x400000;
const HEADERS = 64 + 56;

/** Bytes of an executable for Linux on the architecture. */
export function starterProgram(arch: Arch, text: string): Buffer {
  const message = Buffer.from(text);
  const code = arch === "amd64" ? amd64Code : arm64Code;
  const codeBytes = code(0, message.length).length;
  const machineCode = code(BASE + HEADERS + codeBytes, message.length);
  const size = HEADERS + codeBytes + message.length;
  return Buffer.concat([fileHeader(arch), programHeader(size), machineCode, message]);
}

function fileHeader(arch: Arch): Buffer {
  const head = Buffer.alloc(64);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(head);
  head.writeUInt16LE(2, 16);
  head.writeUInt16LE(ELF_MACHINES[arch], 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(BASE + HEADERS), 24);
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt16LE(64, 52);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(1, 56);
  head.writeUInt16LE(64, 58);
  return head;
}

function programHeader(size: number): Buffer {
  const head = Buffer.alloc(56);
  head.writeUInt32LE(1, 0);
  head.writeUInt32LE(5, 4);
  head.writeBigUInt64LE(BigInt(BASE), 16);
  head.writeBigUInt64LE(BigInt(BASE), 24);
  head.writeBigUInt64LE(BigInt(size), 32);
  head.writeBigUInt64LE(BigInt(size), 40);
  head.writeBigUInt64LE(0x10000n, 48);
  return head;
}

const le32 = (value: number): number[] => [0, 8, 16, 24].map((bits) => (value >>> bits) & 0xff);

/** write(1, message, length); then pause() again and again. */
function amd64Code(message: number, length: number): Buffer {
  return Buffer.from([
    ...[0xb8, ...le32(1)], // mov eax, 1 (write)
    ...[0xbf, ...le32(1)], // mov edi, 1
    ...[0xbe, ...le32(message)], // mov esi, message
    ...[0xba, ...le32(length)], // mov edx, length
    ...[0x0f, 0x05], // syscall
    ...[0xb8, ...le32(34)], // again: mov eax, 34 (pause)
    ...[0x0f, 0x05], // syscall
    ...[0xeb, 0xf7], // jmp again
  ]);
}

/** The same with ppoll(NULL, 0, NULL, NULL), as arm64 has no pause. */
function arm64Code(message: number, length: number): Buffer {
  const movz = (register: number, value: number) => 0xd2800000 | ((value & 0xffff) << 5) | register;
  const movk16 = (register: number, value: number) => 0xf2a00000 | ((value & 0xffff) << 5) | register;
  const SVC = 0xd4000001;
  return Buffer.from(
    [
      movz(0, 1),
      movz(1, message & 0xffff),
      movk16(1, message >>> 16),
      movz(2, length),
      movz(8, 64), // write
      SVC,
      movz(0, 0), // again:
      movz(1, 0),
      movz(2, 0),
      movz(3, 0),
      movz(8, 73), // ppoll
      SVC,
      0x17fffffa, // b again, six instructions back
    ].flatMap((word) => le32(word >>> 0)),
  );
}
