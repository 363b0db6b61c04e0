/** A schematic ID as people read it: a small pattern drawn from it, then its first and last six characters. */

const CELLS = 5;

/** Which cells of the left half are filled, mirrored; two IDs that differ give different patterns nearly always. */
function cellsOf(id: string): [x: number, y: number, strong: boolean][] {
  const cells: [number, number, boolean][] = [];
  for (let y = 0; y < CELLS; y++) {
    for (let x = 0; x < 3; x++) {
      const digit = Number.parseInt(id[y * 3 + x] ?? "0", 16);
      if (digit < 7) continue;
      cells.push([x, y, digit > 11]);
      if (x < 2) cells.push([CELLS - 1 - x, y, digit > 11]);
    }
  }
  return cells;
}

export function IdPattern({ id, className = "size-4" }: { id: string; className?: string }) {
  return (
    <svg
      viewBox={`0 0 ${CELLS} ${CELLS}`}
      className={`${className} shrink-0 text-accent`}
      aria-hidden="true"
      shapeRendering="crispEdges"
    >
      {cellsOf(id).map(([x, y, strong]) => (
        <rect
          key={`${x}-${y}`}
          x={x}
          y={y}
          width={1}
          height={1}
          fill="currentColor"
          opacity={strong ? 1 : 0.45}
        />
      ))}
    </svg>
  );
}

/** An ID that the server has cut short stays as it is. */
export const shortId = (id: string): string => (id.endsWith("…") ? id : `${id.slice(0, 6)}…${id.slice(-6)}`);

export function IdMark({ id }: { id: string }) {
  return (
    <span className="inline-flex items-center gap-2 font-mono text-sm" title={id}>
      <IdPattern id={id} />
      <span>{shortId(id)}</span>
    </span>
  );
}
