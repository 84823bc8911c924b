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

/** A sequence in a form. Text that is no sequence stands under `json`, and there are then no users beside it. */
export type SequenceDraft = Readonly<Record<string, readonly number[] | string>>;

/** Returns the draft for a text, which need not be JSON while staff type it. */
export function toDraft(text: string): SequenceDraft {
  return readSequence(text) ?? { json: text };
}

/** Returns the sequence of a draft; undefined if it is other JSON. */
export function sequenceOf(draft: SequenceDraft): Sequence | undefined {
  const entries = Object.entries(draft).filter((entry): entry is [string, readonly number[]] => isList(entry[1]));
  return draft.json === undefined ? Object.fromEntries(entries) : undefined;
}

/** Formats a draft as JSON. */
export function toText(draft: SequenceDraft): string {
  const { json } = draft;
  return typeof json === 'string' ? json : writeSequence(sequenceOf(draft) ?? {});
}

/** Returns the problem with a text as JSON, of which the service stores any; undefined if there is none. */
export function jsonProblem(text: string): string | undefined {
  if (parse(text) === undefined) return 'This is no JSON.';
  // Outside of texts. Such a number would be stored as another one.
  const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d{16,}/g) ?? [];
  const long = numbers.find((number) => BigInt(number) !== BigInt(Number(number)));
  return long === undefined ? undefined : `The number ${long} has too many digits to be stored.`;
}

const isList = (value: readonly number[] | string): value is readonly number[] => typeof value !== 'string';

/** Formats a sequence as JSON, with a line for each user. */
export function writeSequence(sequence: Sequence): string {
  const lines = Object.entries(sequence).map(([user, stops]) => `  ${JSON.stringify(user)}: [${stops.join(', ')}]`);
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`;
}

/** A stop's place in a sequence: whose it is, and how many of theirs are before it. */
export interface Place {
  readonly user: string;
  readonly index: number;
}

/** Moves stops to before the place `to`, which may be behind a user's last. */
export function moveStops(sequence: Sequence, moved: readonly Place[], to: Place): Sequence {
  const isMoved = (user: string, index: number) => moved.some((at) => at.user === user && at.index === index);
  const users = Object.entries(sequence);
  const stops = users.flatMap(([user, list]) => list.filter((_, index) => isMoved(user, index)));
  return Object.fromEntries(
    users.map(([user, list]) => {
      const split = user === to.user ? to.index : list.length;
      const [before, after] = [true, false].map((isBefore) =>
        list.filter((_, index) => index < split === isBefore && !isMoved(user, index)),
      );
      return [user, [...(before ?? []), ...(user === to.user ? stops : []), ...(after ?? [])]];
    }),
  );
}

/** Moves a stop by one, from a user's first to the one before, and from the last to the next. */
export function stepStop(sequence: Sequence, at: Place, by: -1 | 1): Sequence {
  const users = Object.keys(sequence);
  const index = at.index + by;
  if (index >= 0 && index < (sequence[at.user]?.length ?? 0))
    return moveStops(sequence, [at], { user: at.user, index: by < 0 ? index : index + 1 });
  const user = users[users.indexOf(at.user) + by];
  if (user === undefined) return sequence;
  return moveStops(sequence, [at], { user, index: by < 0 ? (sequence[user]?.length ?? 0) : 0 });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
