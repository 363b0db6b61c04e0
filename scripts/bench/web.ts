/** Measures what the web process answers per second, how fast it sends files, and what memory that takes. */
import { postSchematic } from "../demo/client.ts";
import { type BenchFactory, VERSION } from "./factory.ts";
import { downloadRate, type LoadResult, load } from "./load.ts";
import { cpuSeconds, peakMegabytes, resetPeak } from "./processes.ts";

const CONNECTIONS = 16;

export interface WebCase {
  name: string;
  /** Requests per second, or MB/s for downloads. */
  target?: number;
  measure: (bench: WebBench) => Promise<WebRun>;
}

export interface WebBench {
  factory: BenchFactory;
  /** A stored schematic with a built initramfs. */
  schematic: string;
  seconds: number;
}

export interface WebRun {
  /** Requests per second, or MB/s. */
  rate: number;
  /** Milliseconds; null for downloads. */
  p50Ms: number | null;
  p99Ms: number | null;
  failures: number;
  /** Requests (or MB) per second of processor time of the web process: what does not depend on other load. */
  perCpuSecond: number;
  /** Peak of the web process, MB. */
  webMb: number;
}

const KNOWN = "customization: {extraKernelArgs: [noapic, nolapic]}";

const request = (method: string, path: string, body = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: bench\r\n${body === "" ? "" : `Content-Length: ${body.length}\r\n`}\r\n${body}`;

const asset = ({ schematic }: WebBench, kind: "image" | "pxe", name: string): string =>
  `/${kind}/${schematic}/${VERSION}/${name}`;

/** The same request again and again. */
function repeated(make: (bench: WebBench) => string, expect: number, connections = CONNECTIONS) {
  return (bench: WebBench) => {
    const text = make(bench);
    return withUsage(bench, (url) =>
      load({ url, connections, seconds: bench.seconds, request: () => text, expect }),
    );
  };
}

const newSchematics = (bench: WebBench) => {
  const tag = `${process.pid}-${Date.now()}`;
  const make = (serial: number) =>
    request("POST", "/schematics", `customization: {extraKernelArgs: ['load=${tag}-${serial}']}`);
  return withUsage(bench, (url) =>
    load({ url, connections: CONNECTIONS, seconds: bench.seconds, request: make, expect: 201 }),
  );
};

const download = (connections: number) => (bench: WebBench) => {
  const text = request("GET", asset(bench, "image", "initramfs-amd64.xz"));
  return withUsage(bench, async (url) => ({
    ...{ perSecond: await downloadRate({ url, connections, seconds: bench.seconds, request: () => text }) },
    ...{ p50Ms: null, p99Ms: null, failures: 0 },
  }));
};

export const WEB_CASES: readonly WebCase[] = [
  {
    name: "POST known",
    target: 5_000,
    measure: repeated(() => request("POST", "/schematics", KNOWN), 201),
  },
  { name: "POST new", target: 1_500, measure: newSchematics },
  {
    name: "/pxe",
    target: 3_000,
    measure: repeated((bench) => request("GET", asset(bench, "pxe", "metal-amd64")), 200),
  },
  { name: "/versions", target: 10_000, measure: repeated(() => request("GET", "/versions"), 200) },
  {
    name: "extension list",
    target: 10_000,
    measure: repeated(() => request("GET", `/version/${VERSION}/extensions/official`), 200),
  },
  {
    name: "cmdline",
    measure: repeated((bench) => request("GET", asset(bench, "image", "cmdline-metal-amd64")), 200),
  },
  { name: "download, 1 client", target: 800, measure: download(1) },
  { name: "download, 4 clients", target: 800, measure: download(4) },
];

/** Makes ready what the cases ask for. */
export async function prepareWeb(factory: BenchFactory, seconds: number): Promise<WebBench> {
  const schematic = await postSchematic(factory.url, KNOWN);
  const reply = await fetch(`${factory.url}/image/${schematic}/${VERSION}/initramfs-amd64.xz`);
  if (!reply.ok) throw new Error(`initramfs: ${reply.status} ${await reply.text()}`);
  await reply.arrayBuffer();
  return { factory, schematic, seconds };
}

async function withUsage(
  { factory, seconds }: WebBench,
  work: (url: URL) => Promise<Omit<LoadResult, "p50Ms" | "p99Ms"> & Pick<WebRun, "p50Ms" | "p99Ms">>,
): Promise<WebRun> {
  resetPeak(factory.web);
  const before = cpuSeconds(factory.web).own;
  const { perSecond, ...rest } = await work(new URL(factory.url));
  const cpu = cpuSeconds(factory.web).own - before;
  return {
    rate: perSecond,
    ...rest,
    perCpuSecond: (perSecond * seconds) / cpu,
    webMb: peakMegabytes(factory.web),
  };
}
