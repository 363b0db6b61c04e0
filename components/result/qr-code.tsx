/** QR codes (ISO/IEC 18004) as one path; drawn on the server, so that they need neither scripts nor another request. */
import { encode } from "uqr";

/** Light cells that readers need around the code. */
const QUIET = 4;

/** Side in cells, quiet zone included, and the dark cells as runs of each row. */
export function qrPath(text: string): { side: number; path: string } {
  const { data, size } = encode(text, { ecc: "M", border: 0 });
  const runs: string[] = [];
  for (const [y, row] of data.entries()) {
    for (let x = 0; x < size; x++) {
      if (!row[x]) continue;
      const from = x;
      while (row[x + 1]) x++;
      const length = x - from + 1;
      runs.push(`M${from + QUIET} ${y + QUIET}h${length}v1h-${length}z`);
    }
  }
  return { side: size + 2 * QUIET, path: runs.join("") };
}

/** The code as an SVG document, black on white in every theme: many readers see nothing else. */
export function qrDocument(text: string): string {
  const { side, path } = qrPath(text);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" width="${side * 6}" height="${side * 6}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${path}"/></svg>\n`;
}

export function QrCode({ text, label, className = "" }: { text: string; label: string; className?: string }) {
  const { side, path } = qrPath(text);
  return (
    <svg viewBox={`0 0 ${side} ${side}`} className={className} role="img" shapeRendering="crispEdges">
      <title>{label}</title>
      <path fill="#fff" d={`M0 0h${side}v${side}H0z`} />
      <path fill="#000" d={path} />
    </svg>
  );
}
