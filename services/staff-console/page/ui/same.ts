/**
 * Tells whether two props are the same, and lists in them by their elements. For `memo`, where a list is made anew of
 * records that stay the same.
 */
export function haveSame<Props extends object>(before: Props, after: Props): boolean {
  const values = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).every(([name, value]) => isSame(values.get(name), value));
}

function isSame(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return Object.is(before, after);
  return before.length === after.length && before.every((element, index) => Object.is(element, after[index]));
}
