import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { SlotRow } from './slot.ts';

/** A slot as a list of slots reads it. */
export interface ListRow extends SlotRow {
  /** About how many bytes the slot's own fields take in an answer. */
  shownBytes: number;
}

/** A slot with the ids of its associations, in their order. */
export interface ListedSlotRow extends ListRow {
  productIds: number[];
}

/** A row of a list, or the only one of a list that is too large. */
export type ListedOr<Row extends ListRow> = Row | { id: null };

// The slots' own fields, and product ids that a procedure reads at once. Nothing that people can take in
// comes near them.
const maxListBytes = 32 * 1024 * 1024;
export const maxProductIds = 1_000_000;

/** A slot with more product ids is read alone: of a statement that calls share, all wait for the largest slot. */
export const smallProductIds = 100;

/** SQL of the condition under which the active slots' own fields are too large for an answer. */
export const areSlotsTooLarge = `
  (select coalesce(sum(shown_bytes), 0) > ${maxListBytes} from slots where is_active)`;

/** How many small messages take as long to encode as the slot's sequence (see `longList`). */
export const sequenceSize = ({ shownBytes }: ListRow) => shownBytes / 1_000;

/** The rows of a list. Throws RESOURCE_EXHAUSTED for one that is too large, of which nothing was read. */
export function listedRows<Row extends ListRow>(found: readonly ListedOr<Row>[]): Row[] {
  return found.map((row) => {
    if (row.id === null) throw fail(commonErrors.answerTooLarge);
    return row;
  });
}
