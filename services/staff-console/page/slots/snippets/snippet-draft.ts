import type { MessageInitShape } from '@bufbuild/protobuf';
import type { VendorSnippetInputSchema } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { fromTimeInput } from '../../ui/time-input.ts';

/** A vendor snippet in a form. */
export interface SnippetDraft {
  readonly name: string;
  readonly products: readonly Option[];
  /** In the format of a time field; an empty text means for ever. */
  readonly validTill: string;
}

/** The draft of a new vendor snippet. */
export const emptySnippet: SnippetDraft = { name: '', products: [], validTill: '' };

/** Converts a draft for the request. */
export function snippetInput({
  name,
  products,
  validTill,
}: SnippetDraft): MessageInitShape<typeof VendorSnippetInputSchema> {
  const till = validTill === '' ? {} : { validTill: fromTimeInput(validTill) };
  return { name, productIds: products.map(({ id }) => id), ...till };
}
