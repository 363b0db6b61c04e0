/**
 * Writes small static ELF programs without a compiler: a loop of a few instructions walks a table of system calls, and the
 * files those calls need (busybox, a script, kernel modules) lie in the same image. See docs/sample-release.md.
 * Layout after the System V ABI (ELF-64) and the Linux syscall conventions of x86-64 and AArch64.
 */
import type { Arch } from "../../lib/domain/asset.ts";

/** Argument of a call: a number, a NUL-terminated text, raw bytes, a list of texts (argv, envp), or argv[1] of the program. */
type Argument =
  | number
  | { text: string }
  | { bytes: Uint8Array }
  | { list: (string | typeof FIRST_ARGUMENT)[] };

/** Stands for the first argument the program was started with (absent when there was none). */
const FIRST_ARGUMENT = Symbol("first argument");

export interface Call {
  name: SyscallName;
  args: Argument[];
}

const SYSCALLS = {
  write: { amd64: 1, arm64: 64 },
  close: { amd64: 3, arm64: 57 },
  execve: { amd64: 59, arm64: 221 },
  exit: { amd64: 60, arm64: 93 },
  init_module: { amd64: 175, arm64: 105 },
  openat: { amd64: 257, arm64: 56 },
  mkdirat: { amd64: 258, arm64: 34 },
  memfd_create: { amd64: 319, arm64: 279 },
  execveat: { amd64: 322, arm64: 281 },
} as const;
type SyscallName = keyof typeof SYSCALLS;

const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const O_WRONLY_CREAT_TRUNC = 0o1 | 0o100 | 0o1000;
const O_RDWR = 2;

const BASE = 0x400000;
/** Segments are 64 KiB apart: the largest page size of AArch64. */
const DATA_BASE = 0x410000;
const HEADER_BYTES = 64 + 3 * 56;
/** Number of the call and six arguments. */
const ROW_BYTES = 7 * 8;

/**
 * Calls that write a file (parent folders must exist). No call sees the result of another, so descriptor 0 is closed
 * first: the kernel gives the lowest free number, and the file is 0.
 */
export function writeFileCalls(path: string, bytes: Uint8Array, mode: number): Call[] {
  return [
    { name: "close", args: [0] },
    { name: "openat", args: [AT_FDCWD, { text: path }, O_WRONLY_CREAT_TRUNC, mode] },
    { name: "write", args: [0, { bytes }, bytes.length] },
    { name: "close", args: [0] },
  ];
}

/** Call that opens the console as standard input again after files were written. */
export const openConsoleCall: Call = {
  name: "openat",
  args: [AT_FDCWD, { text: "/dev/console" }, O_RDWR, 0],
};

/** Call that makes a folder. */
export const makeFolderCall = (path: string): Call => ({
  name: "mkdirat",
  args: [AT_FDCWD, { text: path }, 0o755],
});

/** Call that loads a kernel module straight from the program's own memory. */
export const loadModuleCall = (bytes: Uint8Array): Call => ({
  name: "init_module",
  args: [{ bytes }, bytes.length, { text: "" }],
});

/** Call that replaces the program by another file. */
export const executeCall = (path: string, argv: string[], environment: string[]): Call => ({
  name: "execve",
  args: [{ text: path }, { list: argv }, { list: environment }],
});

/** A program that runs a shell script with its first argument, needing nothing but the kernel and /proc. */
export function scriptProgram(arch: Arch, busybox: Uint8Array, name: string, script: string): Buffer {
  return carrierProgram(arch, [
    // With 0, 1 and 2 open, the memory file becomes descriptor 3.
    { name: "close", args: [3] },
    { name: "memfd_create", args: [{ text: name }, 0] },
    { name: "write", args: [3, { bytes: busybox }, busybox.length] },
    {
      name: "execveat",
      args: [
        3,
        { text: "" },
        { list: ["sh", "-c", script, name, FIRST_ARGUMENT] },
        { list: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"] },
        AT_EMPTY_PATH,
      ],
    },
  ]);
}

/**
 * The same for places without /proc, where busybox cannot find itself to run its other programs: it is put into /tmp first,
 * and the script gets a function for each program it uses.
 */
export function standaloneScriptProgram(
  arch: Arch,
  busybox: Uint8Array,
  { name, script, programs }: { name: string; script: string; programs: readonly string[] },
): Buffer {
  const path = "/tmp/busybox";
  const functions = programs.map((program) => `${program}() { ${path} ${program} "$@"; }`);
  const argv: Argument = { list: ["sh", "-c", [...functions, script].join("\n"), name, FIRST_ARGUMENT] };
  return carrierProgram(arch, [
    // With 0, 1 and 2 open, the file becomes descriptor 3; standard input stays.
    { name: "close", args: [3] },
    { name: "openat", args: [AT_FDCWD, { text: path }, O_WRONLY_CREAT_TRUNC, 0o755] },
    { name: "write", args: [3, { bytes: busybox }, busybox.length] },
    { name: "close", args: [3] },
    { name: "execve", args: [{ text: path }, argv, { list: ["LC_ALL=C"] }] },
  ]);
}

/** The ELF image that makes the calls in order, ignores their errors, and ends with exit code 127 when none took over. */
export function carrierProgram(arch: Arch, calls: Call[]): Buffer {
  const rows = [...calls, { name: "exit", args: [127] } satisfies Call];
  const slot = DATA_BASE;
  const table = DATA_BASE + 16;
  const blob = new Blob(table + rows.length * ROW_BYTES);
  const data = Buffer.alloc(16 + rows.length * ROW_BYTES);
  const argumentSlots: number[] = [];
  rows.forEach((row, index) => {
    const at = 16 + index * ROW_BYTES;
    data.writeBigInt64LE(BigInt(SYSCALLS[row.name][arch]), at);
    row.args.forEach((argument, position) => {
      data.writeBigInt64LE(BigInt(blob.place(argument, argumentSlots)), at + 8 + position * 8);
    });
  });
  const [argumentSlot = slot] = argumentSlots;
  const code = arch === "amd64" ? amd64Code(argumentSlot, table) : arm64Code(argumentSlot, table);
  return elf(arch, code, Buffer.concat([data, blob.bytes()]));
}

/** Everything the table points at, laid out behind it. */
class Blob {
  private readonly chunks: Buffer[] = [];
  private at: number;
  constructor(start: number) {
    this.at = start;
  }
  bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
  /** Gives the number or the address the row has to hold. */
  place(argument: Argument, argumentSlots: number[]): number {
    if (typeof argument === "number") return argument;
    if ("text" in argument) return this.add(Buffer.from(`${argument.text}\0`));
    if ("bytes" in argument) return this.add(argument.bytes);
    const pointers = Buffer.alloc((argument.list.length + 1) * 8);
    const holes: number[] = [];
    argument.list.forEach((item, index) => {
      if (item === FIRST_ARGUMENT) holes.push(index * 8);
      else pointers.writeBigInt64LE(BigInt(this.add(Buffer.from(`${item}\0`))), index * 8);
    });
    const address = this.add(pointers);
    for (const hole of holes) argumentSlots.push(address + hole);
    return address;
  }
  private add(bytes: Uint8Array): number {
    const address = this.at;
    const padded = Buffer.alloc(Math.ceil(bytes.length / 16) * 16 || 16);
    padded.set(bytes);
    this.chunks.push(padded);
    this.at += padded.length;
    return address;
  }
}

/** x86-64: rbx walks the table; number in rax, arguments in rdi rsi rdx r10 r8 r9. */
function amd64Code(slot: number, table: number): Buffer {
  const immediate = (value: number): number[] => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    return [...bytes];
  };
  const prologue = [
    ...[0x48, 0x8b, 0x44, 0x24, 0x10], // mov rax,[rsp+16]: argv[1]
    ...[0x48, 0xb9, ...immediate(slot)], // mov rcx,slot
    ...[0x48, 0x89, 0x01], // mov [rcx],rax
    ...[0x48, 0xbb, ...immediate(table)], // mov rbx,table
  ];
  const loop = [
    ...[0x48, 0x8b, 0x03], // mov rax,[rbx]
    ...[0x48, 0x8b, 0x7b, 0x08], // mov rdi,[rbx+8]
    ...[0x48, 0x8b, 0x73, 0x10], // mov rsi,[rbx+16]
    ...[0x48, 0x8b, 0x53, 0x18], // mov rdx,[rbx+24]
    ...[0x4c, 0x8b, 0x53, 0x20], // mov r10,[rbx+32]
    ...[0x4c, 0x8b, 0x43, 0x28], // mov r8,[rbx+40]
    ...[0x4c, 0x8b, 0x4b, 0x30], // mov r9,[rbx+48]
    ...[0x0f, 0x05], // syscall
    ...[0x48, 0x83, 0xc3, ROW_BYTES], // add rbx,56
  ];
  return Buffer.from([...prologue, ...loop, 0xeb, 256 - (loop.length + 2)]); // jmp loop
}

/** AArch64: x19 walks the table; number in x8, arguments in x0 to x5. */
function arm64Code(slot: number, table: number): Buffer {
  const loadAddress = (register: number, value: number): number[] => [
    0xd2800000 | ((value & 0xffff) << 5) | register, // movz
    0xf2a00000 | (((value >>> 16) & 0xffff) << 5) | register, // movk, lsl 16
  ];
  const words = [
    0xf9400be9, // ldr x9,[sp,#16]: argv[1]
    ...loadAddress(10, slot),
    0xf9000149, // str x9,[x10]
    ...loadAddress(19, table),
    0xf9400268, // loop: ldr x8,[x19]
    0xa9408660, // ldp x0,x1,[x19,#8]
    0xa9418e62, // ldp x2,x3,[x19,#24]
    0xa9429664, // ldp x4,x5,[x19,#40]
    0xd4000001, // svc #0
    0x91000273 | (ROW_BYTES << 10), // add x19,x19,#56
    0x17fffffa, // b loop
  ];
  const code = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => {
    code.writeUInt32LE(word >>> 0, index * 4);
  });
  return code;
}

/** One executable and one writable segment, no sections, stack not executable. */
function elf(arch: Arch, code: Buffer, data: Buffer): Buffer {
  const dataOffset = DATA_BASE - BASE;
  const head = Buffer.alloc(dataOffset);
  head.write("\x7fELF\x02\x01\x01", "latin1");
  head.writeUInt16LE(2, 16); // ET_EXEC
  head.writeUInt16LE(arch === "amd64" ? 62 : 183, 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(BASE + HEADER_BYTES), 24); // entry
  head.writeBigUInt64LE(64n, 32); // program headers
  head.writeUInt16LE(64, 52);
  head.writeUInt16LE(56, 54);
  head.writeUInt16LE(3, 56);
  const segment = (index: number, type: number, flags: number, offset: number, size: number): void => {
    const at = 64 + index * 56;
    head.writeUInt32LE(type, at);
    head.writeUInt32LE(flags, at + 4);
    const address = type === 1 ? BASE + offset : 0;
    const fields = [offset, address, address, size, size, type === 1 ? 0x10000 : 16];
    fields.forEach((value, field) => {
      head.writeBigUInt64LE(BigInt(value), at + 8 + field * 8);
    });
  };
  segment(0, 1, 5, 0, HEADER_BYTES + code.length); // PT_LOAD r-x
  segment(1, 1, 6, dataOffset, data.length); // PT_LOAD rw-
  segment(2, 0x6474e551, 6, 0, 0); // PT_GNU_STACK rw-
  code.copy(head, HEADER_BYTES);
  return Buffer.concat([head, data]);
}
