/** A delivery sequence that the editor can edit: a list of integers for each user id (spec 2.1). */
export type Sequence = Readonly<Record<string, readonly number[]>>;

/** Reads a sequence from JSON; undefined for any other JSON, and for text that is not JSON. */
export function readSequence(text: string): Sequence | undefined {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries: [string, number[]][] = [];
  for (const [user, list] of Object.entries(value)) {
    // The editor identifies users by their numbers, and would lose entries under other keys.
    if (user !== String(Number.parseInt(user, 10))) return undefined;
    if (!Array.isArray(list) || !list.every((stop): stop is number => Number.isInteger(stop))) return undefined;
    entries.push([user, list]);
  }
  return Object.fromEntries(entries);
}

/** Whether a text is JSON. The service stores any JSON. */
export function isJson(text: string): boolean {
  return parse(text) !== undefined;
}

/** Formats a sequence as JSON, with a line for each user. */
export function writeSequence(sequence: Sequence): string {
  const lines = Object.entries(sequence).map(([user, stops]) => `  ${JSON.stringify(user)}: [${stops.join(', ')}]`);
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`;
}

/** Moves the items at the positions `moved` to before or after the item at `target`. */
export function move(
  list: readonly number[],
  moved: ReadonlySet<number>,
  target: number,
  side: 'before' | 'after',
): number[] {
  const keep = (from: number, to: number) =>
    list.filter((_, index) => index >= from && index < to && !moved.has(index));
  const split = side === 'before' ? target : target + 1;
  return [...keep(0, split), ...list.filter((_, index) => moved.has(index)), ...keep(split, list.length)];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
