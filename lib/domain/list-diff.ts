/** The difference of two lists: what stays, what goes, what comes, in an order that reads from the old to the new. */

export interface DiffItem<T> {
  change: "same" | "removed" | "added";
  value: T;
}

/** Beyond this many comparisons the middle is told as wholly replaced: a hostile text must not cost minutes. */
const MOST_COMPARISONS = 4_000_000;

const all = <T>(change: DiffItem<T>["change"], values: readonly T[]): DiffItem<T>[] =>
  values.map((value) => ({ change, value }));

/** Lengths of the longest common subsequence of every pair of ends, row by row. */
function commonLengths<T>(a: readonly T[], b: readonly T[]): Uint32Array {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (index: number) => lengths[index] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const here = i * width + j;
      lengths[here] = a[i] === b[j] ? at(here + width + 1) + 1 : Math.max(at(here + width), at(here + 1));
    }
  }
  return lengths;
}

function middle<T>(a: readonly T[], b: readonly T[]): DiffItem<T>[] {
  if (a.length * b.length > MOST_COMPARISONS) return [...all("removed", a), ...all("added", b)];
  const lengths = commonLengths(a, b);
  const width = b.length + 1;
  const items: DiffItem<T>[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      items.push(...all("same", a.slice(i, i + 1)));
      i += 1;
      j += 1;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      items.push(...all("removed", a.slice(i, i + 1)));
      i += 1;
    } else {
      items.push(...all("added", b.slice(j, j + 1)));
      j += 1;
    }
  }
  return [...items, ...all("removed", a.slice(i)), ...all("added", b.slice(j))];
}

/** The difference by `===`. What is not added is the old list, what is not removed the new one, both in order. */
export function diffLists<T>(before: readonly T[], after: readonly T[]): DiffItem<T>[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...all("same", before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...all("same", before.slice(before.length - end)),
  ];
}

/** True when nothing was removed or added. */
export const isUnchanged = (items: readonly DiffItem<unknown>[]): boolean =>
  items.every((item) => item.change === "same");
