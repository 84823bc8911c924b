import type { MessageInitShape } from '@bufbuild/protobuf';
import type { VendorSnippetInputSchema } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { fromTimeInput } from '../../ui/time-input.ts';

/** A vendor snippet, as a form holds it. */
export interface SnippetDraft {
  readonly name: string;
  readonly products: readonly Option[];
  /** As a field for times holds it; empty for ever. */
  readonly validTill: string;
}

/** What a new vendor snippet begins with. */
export const emptySnippet: SnippetDraft = { name: '', products: [], validTill: '' };

/** What the service is sent. */
export function snippetInput({
  name,
  products,
  validTill,
}: SnippetDraft): MessageInitShape<typeof VendorSnippetInputSchema> {
  const till = validTill === '' ? {} : { validTill: fromTimeInput(validTill) };
  return { name, productIds: products.map(({ id }) => id), ...till };
}
