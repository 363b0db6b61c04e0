/** The drawing of a QR code is the code: cell by cell, with its quiet zone. */
import { encode } from "uqr";
import { expect, it } from "vitest";
import { qrDocument, qrPath } from "../../../components/result/qr-code.tsx";

const TEXT = `https://factory.example.org/image/${"0123456789abcdef".repeat(4)}/v1.13.2/metal-amd64.iso`;
const QUIET = 4;

/** The dark cells that a path fills. */
function cells(path: string, side: number): boolean[][] {
  const grid = Array.from({ length: side }, () => new Array<boolean>(side).fill(false));
  for (const [, x, y, length, back] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    expect(back).toBe(length);
    for (let i = 0; i < Number(length); i++) {
      const row = grid[Number(y)];
      if (row) row[Number(x) + i] = true;
    }
  }
  return grid;
}

it("fills exactly the dark cells of the code", () => {
  const { side, path } = qrPath(TEXT);
  const { data, size } = encode(TEXT, { ecc: "M", border: 0 });
  expect(side).toBe(size + 2 * QUIET);
  const grid = cells(path, side);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      expect(grid[y]?.[x], `${x} ${y}`).toBe(data[y - QUIET]?.[x - QUIET] ?? false);
});

it("is small and black on white as a document", () => {
  const svg = qrDocument(TEXT);
  expect(svg.length).toBeLessThan(16_000);
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 (\d+) \1" .*fill="#fff"/);
});
