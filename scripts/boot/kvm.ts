/** Tells whether KVM really runs guests here: some hosts offer /dev/kvm and then interpret every instruction. */
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Turns of the loop: a few milliseconds on a processor, several seconds in an interpreter. */
const TURNS = 5_000_000;
const LIMIT_MS = 2_000;

let answer: Promise<boolean> | undefined;

/** True when a small guest ends within two seconds under KVM. Asked once per process. */
export function isKvmUsable(): Promise<boolean> {
  answer ??= probe();
  return answer;
}

async function probe(): Promise<boolean> {
  try {
    accessSync("/dev/kvm", constants.R_OK | constants.W_OK);
  } catch {
    return false;
  }
  const dir = await mkdtemp(join(tmpdir(), "casthouse-kvm-"));
  try {
    const rom = join(dir, "probe.rom");
    await writeFile(rom, probeRom());
    return await endsInTime(rom);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** A 64 KiB firmware in real mode: count down, then ask QEMU's debug device to end. */
function probeRom(): Buffer {
  const rom = Buffer.alloc(65_536, 0xf4); // hlt
  const turns = Buffer.alloc(4);
  turns.writeUInt32LE(TURNS);
  Buffer.from([
    ...[0x66, 0xb9, ...turns], // mov ecx,TURNS
    ...[0x66, 0x49], // dec ecx
    ...[0x75, 0xfc], // jnz the line above
    ...[0xb0, 0x00], // mov al,0
    ...[0xe6, 0xf4], // out 0xf4,al
    ...[0xf4, 0xeb, 0xfd], // hlt, for ever
  ]).copy(rom, 0);
  Buffer.from([0xea, 0x00, 0x00, 0x00, 0xf0]).copy(rom, 0xfff0); // reset vector: jmp f000:0000
  return rom;
}

function endsInTime(rom: string): Promise<boolean> {
  const args = [
    ...["-machine", "pc,accel=kvm", "-cpu", "qemu64", "-m", "16", "-display", "none", "-nodefaults"],
    ...["-serial", "none", "-monitor", "none", "-no-reboot", "-bios", rom],
    ...["-device", "isa-debug-exit,iobase=0xf4"],
  ];
  return new Promise((resolve) => {
    const child = spawn("qemu-system-x86_64", args, { stdio: "ignore" });
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    child.on("error", () => resolve(false));
    child.on("close", (code) => {
      clearTimeout(limit);
      // isa-debug-exit ends QEMU with 2 × value + 1.
      resolve(code === 1);
    });
  });
}
