/** A delivery sequence that can be edited: for each user id a list of integers (spec 2.1). */
export type Sequence = Readonly<Record<string, readonly number[]>>;

/** Reads a sequence from JSON; undefined when it is none, or no JSON. */
export function readSequence(text: string): Sequence | undefined {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries: [string, number[]][] = [];
  for (const [user, list] of Object.entries(value)) {
    // The editor knows users by their numbers, and would lose what stands under another name.
    if (user !== String(Number.parseInt(user, 10))) return undefined;
    if (!Array.isArray(list) || !list.every((stop): stop is number => Number.isInteger(stop))) return undefined;
    entries.push([user, list]);
  }
  return Object.fromEntries(entries);
}

/** Whether a text is JSON: the service stores any. */
export function isJson(text: string): boolean {
  return parse(text) !== undefined;
}

/** The JSON of a sequence, a line for each user. */
export function writeSequence(sequence: Sequence): string {
  const lines = Object.entries(sequence).map(([user, stops]) => `  ${JSON.stringify(user)}: [${stops.join(', ')}]`);
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`;
}

/** Moves some of a list, given by their positions, to before or after the one at `target`. */
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
