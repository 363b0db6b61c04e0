/** Measures pages as a browser meets them: the server's answer, the largest paint, shifts, scripts, requests that leave. */
import type { Browser, Request } from "playwright-core";
import { startBrowser } from "../../tests/fixtures/browser.ts";
import { type BenchFactory, VERSION } from "./factory.ts";
import { atMost, median, type Row } from "./report.ts";

/** kB of scripts, compressed, that a page may send. */
const SCRIPT_TARGET = 200;
const WIDTHS = [390, 1280] as const;

export const PAGE_CASE = "pages";

interface PageRun {
  /** From the request to the first byte of the answer, and to the largest paint, in ms. */
  responseMs: number;
  paintMs: number;
  /** Sum of layout shifts, CLS. */
  shift: number;
  scriptKb: number;
  /** Requests to another host. */
  elsewhere: number;
}

/** Notes paints and shifts from the first moment on. Runs in the page, where names that tsx gives to functions do not exist. */
function watch(): void {
  const seen = { paintMs: 0, shift: 0 };
  Object.assign(window, { seen });
  for (const type of ["largest-contentful-paint", "layout-shift"])
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.entryType === "layout-shift") seen.shift += Number(Reflect.get(entry, "value"));
        else seen.paintMs = entry.startTime;
    }).observe({ type, buffered: true });
}

/** Opens a page as somebody who was never here: nothing cached. */
async function openOnce(browser: Browser, url: string, width: number): Promise<PageRun> {
  const context = await browser.newContext({ viewport: { width, height: 844 } });
  try {
    const page = await context.newPage();
    const requests: Request[] = [];
    page.on("requestfinished", (request) => requests.push(request));
    await page.addInitScript(watch);
    const reply = await page.goto(url, { waitUntil: "networkidle" });
    if (reply?.status() !== 200) throw new Error(`${url}: ${reply?.status()}`);
    const { responseStart, requestStart } = reply.request().timing();
    const { paintMs, shift }: { paintMs: number; shift: number } = await page.evaluate(() =>
      Reflect.get(window, "seen"),
    );
    if (paintMs === 0) throw new Error(`${url}: the browser told of no paint`);
    let scriptBytes = 0;
    for (const request of requests)
      if (request.resourceType() === "script") scriptBytes += (await request.sizes()).responseBodySize;
    const { host } = new URL(url);
    const elsewhere = requests.filter((request) => new URL(request.url()).host !== host).length;
    return {
      responseMs: responseStart - requestStart,
      paintMs,
      shift,
      scriptKb: scriptBytes / 1000,
      elsewhere,
    };
  } finally {
    await context.close();
  }
}

function rowsOf(name: string, runs: PageRun[]): Row[] {
  const of = (field: keyof PageRun) => median(runs.map((run) => run[field]));
  const worst = (field: keyof PageRun) => Math.max(...runs.map((run) => run[field]));
  const row = { group: "pages", notes: "", target: null };
  return [
    atMost({ ...row, name: `${name}: response`, value: of("responseMs"), unit: "ms" }),
    atMost({ ...row, name: `${name}: LCP`, value: of("paintMs"), unit: "ms" }),
    atMost({ ...row, name: `${name}: CLS`, value: worst("shift"), unit: "", target: 0 }),
    atMost({ ...row, name: `${name}: scripts`, value: worst("scriptKb"), unit: "kB", target: SCRIPT_TARGET }),
    atMost({ ...row, name: `${name}: other hosts`, value: worst("elsewhere"), unit: "", target: 0 }),
  ];
}

/** The form and the page of a schematic, each at both widths and `runs` times after one that warms the server. */
export async function measurePages(factory: BenchFactory, schematic: string, runs: number): Promise<Row[]> {
  const browser = await startBrowser();
  try {
    const rows: Row[] = [];
    const result = `/schematics/${schematic}?version=${VERSION}&platform=nocloud&arch=amd64`;
    for (const [name, path] of [
      ["form", "/"],
      ["result", result],
    ] as const) {
      const url = factory.url + path;
      await openOnce(browser, url, WIDTHS[0]);
      const measured: PageRun[] = [];
      for (const width of WIDTHS)
        for (let run = 0; run < runs; run += 1) measured.push(await openOnce(browser, url, width));
      rows.push(...rowsOf(name, measured));
    }
    return rows;
  } finally {
    await browser.close();
  }
}
