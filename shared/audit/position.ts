import { invalidField } from '../errors/errors.ts';
import { readPlace, writePageToken } from '../rpc/paging.ts';

/** A place in the order of the entries: right after the entry with this id, which was written at this time. */
export interface Position {
  readonly id: number;
  /** In microseconds since 1970. */
  readonly micros: number;
}

/** The place before all entries. */
export const beginning: Position = { id: 0, micros: 0 };

const listed = ['audit entries in their order'];

/** Writes a position as callers get it. */
export const writePosition = ({ id, micros }: Position) => writePageToken(listed, [id, micros]);

/** Reads a position of a caller. Throws INVALID_ARGUMENT for a garbled one. */
export function readPosition(text: string): Position {
  const [id = -1, micros = 0] = readPlace(listed, text)?.map(Number) ?? [];
  if (id >= 0 && writePosition({ id, micros }) === text && Number.isSafeInteger(Math.max(id, Math.abs(micros)))) {
    return { id, micros };
  }
  throw invalidField('position', 'is not a position of WatchEntries');
}
