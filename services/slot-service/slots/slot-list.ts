import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { SlotRow } from './slot.ts';

/** A slot with its product ids in ascending order. */
export interface ListedSlotRow extends SlotRow {
  productIds: number[];
}

/** A row of a list, or the single row that marks a list as too large. */
export type ListedOr<Row extends SlotRow> = Row | { id: null };

// The limits of a list: the size of the slots' own fields, and the number of product ids. They are far
// more than people can take in.
const maxListBytes = 32 * 1024 * 1024;
export const maxProductIds = 1_000_000;

/** A slot with more product ids is read alone, because calls that share a statement wait for its largest slot. */
export const smallProductIds = 100;

/** SQL of the condition that the active slots' own fields are too large for an answer. */
export const areSlotsTooLarge = `
  (select coalesce(sum(shown_bytes), 0) > ${maxListBytes} from slots where is_active)`;

/** Returns the rows of a list. Throws RESOURCE_EXHAUSTED for a list that is too large; its rows were not read. */
export function listedRows<Row extends SlotRow>(found: readonly ListedOr<Row>[]): Row[] {
  return found.map((row) => {
    if (row.id === null) throw fail(commonErrors.answerTooLarge);
    return row;
  });
}
