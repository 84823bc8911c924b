import { words } from '../words.ts';
/** A delivery sequence that the editor can edit: a list of integers for each user id (spec 2.1). */
export type Sequence = Readonly<Record<string, readonly number[]>>;

/** Reads a sequence from JSON; undefined for any other JSON, and for text that is not JSON. */
export function readSequence(text: string): Sequence | undefined {
  const value = parse(text);
  return isSequence(value) ? value : undefined;
}

/** Whether JSON, or a draft, is a sequence that the editor can edit. */
export function isSequence(value: unknown): value is Sequence {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([user, list]) =>
      // The editor identifies users by their numbers, and would lose entries under other keys.
      user === String(Number.parseInt(user, 10)) && Array.isArray(list) && list.every(Number.isInteger),
  );
}

/** A sequence in a form. Text that is no sequence stands under `json`, and there are then no users beside it. */
export type SequenceDraft = Readonly<Record<string, readonly number[] | string>>;

/** Returns the draft for a text, which need not be JSON while staff type it. */
export function toDraft(text: string): SequenceDraft {
  return readSequence(text) ?? { json: text };
}

/** Formats a draft as JSON, with a line for each user. */
export function toText(draft: SequenceDraft): string {
  if (!isSequence(draft)) return String(draft.json);
  const lines = Object.entries(draft).map(([user, stops]) => `  ${JSON.stringify(user)}: [${stops.join(', ')}]`);
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`;
}

/** Returns the problem with a text as JSON, of which the service stores any; undefined if there is none. */
export function jsonProblem(text: string): string | undefined {
  if (parse(text) === undefined) return words.slot.sequence.noJson;
  // Outside of texts. Such a number would be stored as another one.
  const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d{16,}/g) ?? [];
  const long = numbers.find((number) => BigInt(number) !== BigInt(Number(number)));
  return long === undefined ? undefined : words.slot.sequence.longNumber(long);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts the stops of the users before one. */
export function stopsBefore(sequence: Sequence, user: string): number {
  const users = Object.keys(sequence);
  return users.slice(0, users.indexOf(user)).reduce((sum, each) => sum + (sequence[each]?.length ?? 0), 0);
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
      const rest = list.filter((_, index) => !isMoved(user, index));
      const before = list.filter((_, index) => index < to.index && !isMoved(user, index));
      return [user, user === to.user ? rest.toSpliced(before.length, 0, ...stops) : rest];
    }),
  );
}

/** Moves a stop by one, from a user's first to the one before, and from the last to the next. */
export function stepStop(sequence: Sequence, at: Place, by: -1 | 1): Sequence {
  const index = by < 0 ? at.index - 1 : at.index + 2;
  if (index >= 0 && index <= (sequence[at.user]?.length ?? 0)) return moveStops(sequence, [at], { ...at, index });
  const users = Object.keys(sequence);
  const user = users[users.indexOf(at.user) + by];
  if (user === undefined) return sequence;
  return moveStops(sequence, [at], { user, index: by < 0 ? Number.POSITIVE_INFINITY : 0 });
}
