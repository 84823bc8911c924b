import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { VendorSnippet, VendorSnippetInputSchema } from '#gen/slot/v1/slot_service_pb';
import { formatDate } from '../../business/time.tsx';
import { describeSkipped, fromTimeInput, readTimeInput, shiftDay, timeInput } from '../../business/time-input.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { words } from '../../words.ts';
import type { SlotDraft } from '../record/slot-draft.ts';

const text = words.slot.snippets;

/** A vendor snippet in a form. */
export interface SnippetDraft {
  readonly name: string;
  readonly products: readonly Option[];
  /** The text of a time field; empty for no end. */
  readonly validTill: string;
}

/** The draft of a new vendor snippet. */
export const emptySnippet: SnippetDraft = { name: '', products: [], validTill: '' };

/**
 * Returns the draft of a copy of a snippet for a slot some days later. Its name ends with the day of the new delivery,
 * in the place of another day. The names of its products are read where they are shown.
 */
export function copySnippet(
  { snippetCode, productIds, validTill }: VendorSnippet,
  { deliveryTime }: SlotDraft,
  days: number,
): SnippetDraft {
  const end = validTill === undefined ? '' : timeInput(timestampDate(validTill));
  return {
    name: `${snippetCode.replace(/-\d{4}-\d\d-\d\d$/, '')}-${deliveryTime.slice(0, 10)}`,
    products: productIds.map((id) => ({ id, name: '' })),
    validTill: end === '' ? '' : `${shiftDay(end.slice(0, 10), days)}${end.slice(10, 16)}`,
  };
}

/** Converts a draft for the request. */
export function snippetInput({
  name,
  products,
  validTill,
}: SnippetDraft): MessageInitShape<typeof VendorSnippetInputSchema> {
  const till = validTill === '' ? {} : { validTill: fromTimeInput(validTill) };
  return { name, productIds: products.map(({ id }) => id), ...till };
}

/** Returns what looks like a mistake in a new snippet, at a time in Unix ms. */
export function snippetConcerns({ name, validTill }: SnippetDraft, now: number): string[] {
  const end = readTimeInput(validTill);
  const isPast = end !== undefined && end.getTime() < now;
  return [...(isPast ? [text.ended(name, formatDate(end))] : []), ...describeSkipped(text.end, validTill)];
}
