/** Reads what the sample system says on the serial line. */

export interface SampleMarkers {
  version: string | null;
  machine: string | null;
  kernel: string | null;
  /** "bios" or "uefi". */
  bootMode: string | null;
  /** Only under UEFI: "on", "off" or "unknown". */
  secureBoot: string | null;
  cmdline: string | null;
  /** PCR 11 by bank ("sha256"), in hex; empty without a TPM. */
  pcr11: Record<string, string>;
  /** Size of a logical sector of the disk with META. */
  sectorBytes: number | null;
  schematic: string | null;
  extensions: { image: string; name: string; version: string }[];
  /** One readable file of each extension layer. */
  files: { extension: string; path: string; sizeBytes: number; sha256: string }[];
  firmware: { path: string; sizeBytes: number; sha256: string }[];
  microcode: { path: string; sizeBytes: number; sha256: string }[];
  modules: { name: string; loaded: boolean }[];
  /** First line each extension service printed. */
  services: { name: string; line: string }[];
  embeddedConfig: { sizeBytes: number; sha256: string } | null;
  /** META of the disk by tag ("0xa"); null when there is no META partition. */
  metaDisk: Record<string, string> | null;
  metaEnvironment: Record<string, string>;
  /** Words of a first stage that gave up. */
  failure: string | null;
  /** True when the last marker was reached. */
  ok: boolean;
}

const PREFIX = "casthouse-sample: ";

/** Facts of the first complete block in the serial text; lines of others (firmware, kernel) are skipped. */
export function parseSampleMarkers(serial: string): SampleMarkers {
  const facts = emptyMarkers();
  for (const line of serial.split(/[\r\n]+/)) {
    const at = line.indexOf(PREFIX);
    if (at >= 0) readFact(facts, line.slice(at + PREFIX.length));
    if (facts.ok) break;
  }
  return facts;
}

function emptyMarkers(): SampleMarkers {
  return {
    version: null,
    machine: null,
    kernel: null,
    bootMode: null,
    secureBoot: null,
    cmdline: null,
    pcr11: {},
    sectorBytes: null,
    schematic: null,
    extensions: [],
    files: [],
    firmware: [],
    microcode: [],
    modules: [],
    services: [],
    embeddedConfig: null,
    metaDisk: null,
    metaEnvironment: {},
    failure: null,
    ok: false,
  };
}

function readFact(facts: SampleMarkers, fact: string): void {
  const [word = "", ...words] = fact.split(" ");
  const rest = words.join(" ");
  const [first = "", second = "", third = "", fourth = ""] = words;
  switch (word) {
    case "version":
    case "machine":
    case "kernel":
    case "cmdline":
      facts[word] = rest;
      break;
    case "schematic":
      facts.schematic = first === "none" ? null : first;
      break;
    case "extension":
      facts.extensions.push({ image: first, name: second, version: third });
      break;
    case "file":
      if (second !== "none")
        facts.files.push({ extension: first, path: second, sizeBytes: Number(third), sha256: fourth });
      break;
    case "firmware":
    case "microcode":
      facts[word].push({ path: first, sizeBytes: Number(second), sha256: third });
      break;
    case "module":
      facts.modules.push({ name: first, loaded: second === "loaded" });
      break;
    case "service":
      facts.services.push({ name: first, line: words.slice(1).join(" ") });
      break;
    case "pcr":
      facts.pcr11[second] = third;
      break;
    case "disk":
      facts.sectorBytes = Number(second);
      break;
    case "embedded":
      facts.embeddedConfig = { sizeBytes: Number(second), sha256: third };
      break;
    case "meta":
      readMeta(facts, first, second, words.slice(2).join(" "));
      break;
    case "boot":
      readBoot(facts, first, rest, third);
      break;
  }
}

function readBoot(facts: SampleMarkers, first: string, rest: string, third: string): void {
  if (first === "ok") facts.ok = true;
  else if (first === "failed:") facts.failure = rest.slice("failed: ".length);
  else if (first === "mode") {
    facts.bootMode = rest.split(" ")[1] ?? null;
    facts.secureBoot = third.split("=")[1] ?? null;
  }
}

function readMeta(facts: SampleMarkers, source: string, tag: string, value: string): void {
  if (source === "environment") facts.metaEnvironment[tag] = unescaped(value);
  else if (tag === "none") facts.metaDisk = null;
  else if (tag === "empty") facts.metaDisk = {};
  else facts.metaDisk = { ...facts.metaDisk, [tag]: unescaped(value) };
}

const unescaped = (value: string): string =>
  value.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter === "r" ? "\r" : letter));
