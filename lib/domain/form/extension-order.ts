/** The order of chosen extensions, which is part of the ID: byte order unless somebody moved one. */

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Names in the order a form gives them by itself: byte order, no repeats. */
export const sortedNames = (names: Iterable<string>): string[] => [...new Set(names)].sort(byBytes);

/** True when the list is as the form would order it. */
export function isDefaultOrder(names: readonly string[]): boolean {
  const sorted = sortedNames(names);
  return sorted.length === names.length && sorted.every((name, index) => name === names[index]);
}

/**
 * The chosen names in a wished order. Names of the order that are not chosen are left out, repeats are kept; chosen names
 * that the order does not know come last, or to their place when the order is the form's own.
 */
export function orderExtensions(chosen: readonly string[], order: readonly string[]): string[] {
  const wanted = new Set(chosen);
  const kept = order.filter((name) => wanted.has(name));
  const added = sortedNames(chosen.filter((name) => !order.includes(name)));
  return isDefaultOrder(order) ? sortedNames([...kept, ...added]) : [...kept, ...added];
}

/** The list with a name added or taken out. */
export function toggleExtension(names: readonly string[], name: string, on: boolean): string[] {
  const without = names.filter((one) => one !== name);
  return on ? orderExtensions([...without, name], names) : without;
}

/** The list with the name at `from` moved to `to`; unchanged when either is outside. */
export function moveExtension(names: readonly string[], from: number, to: number): string[] {
  const moved = names[from];
  if (moved === undefined || to < 0 || to >= names.length) return [...names];
  const rest = names.filter((_name, index) => index !== from);
  return [...rest.slice(0, to), moved, ...rest.slice(to)];
}
