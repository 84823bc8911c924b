import {
  GetSlotByIdResponseSchema,
  SlotDetailSchema,
  VendorSnippetSchema,
} from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { ProductSlotRow, SlotRow } from '../slots/slot.ts';
import type { SnippetRow } from '../slots/snippets.ts';
import {
  slotFieldsToJson,
  timestampToJson,
  writeAssociation,
  writeProduct,
  writeSlotFields,
  writeSlotIdOf,
  writeTimestamp,
} from './slot-fields.ts';

const detail = SlotDetailSchema.field;
const snippetFields = VendorSnippetSchema.field;

/** The content of a response of getSlotById. */
export interface ShownSlot {
  readonly slot: SlotRow & { readonly productSlots: readonly ProductSlotRow[] };
  /** Flattened. */
  readonly deliverySequence: readonly number[];
  readonly vendorSnippets: readonly (SnippetRow & { readonly accessUrl: string })[];
}

/** The response of getSlotById, encoded straight from the rows. */
export class SlotDetailResponse extends EncodedResponse<typeof GetSlotByIdResponseSchema> {
  readonly #shown: ShownSlot;

  constructor(shown: ShownSlot) {
    super(GetSlotByIdResponseSchema);
    this.#shown = shown;
  }

  async toBinary(): Promise<Buffer> {
    const { slot, deliverySequence, vendorSnippets } = this.#shown;
    const writer = new FieldWriter();
    writer.message(GetSlotByIdResponseSchema.field.slot.number, () => {
      writeSlotFields(writer, slot);
      writer.int32s(detail.deliverySequence.number, deliverySequence);
      for (const { product } of slot.productSlots) {
        if (product !== null) writer.message(detail.products.number, () => writeProduct(writer, product));
      }
      for (const { productId, product } of slot.productSlots) {
        writer.message(detail.productSlots.number, () => {
          writeSlotIdOf(writer, slot);
          writeAssociation(writer, productId, product);
        });
      }
      for (const snippet of vendorSnippets) {
        writer.message(detail.vendorSnippets.number, () => {
          writer.string(snippetFields.snippetCode.number, snippet.snippetCode);
          writer.int32(snippetFields.slotId.number, snippet.slotId);
          writer.int32s(snippetFields.productIds.number, snippet.productIds);
          if (snippet.validTill !== null) writeTimestamp(writer, snippetFields.validTill.number, snippet.validTill);
          writer.string(snippetFields.accessUrl.number, snippet.accessUrl);
        });
      }
    });
    return writer.finish();
  }

  async toJson(): Promise<string> {
    const { slot, deliverySequence, vendorSnippets } = this.#shown;
    return JSON.stringify({
      slot: {
        ...slotFieldsToJson(slot),
        deliverySequence,
        products: slot.productSlots.flatMap(({ product }) => product ?? []),
        productSlots: slot.productSlots.map(({ slotId, productId, product }) =>
          product === null ? { slotId, productId } : { slotId, productId, product },
        ),
        vendorSnippets: vendorSnippets.map(({ validTill, ...snippet }) => ({
          ...snippet,
          ...(validTill === null ? {} : { validTill: timestampToJson(validTill) }),
        })),
      },
    });
  }
}
