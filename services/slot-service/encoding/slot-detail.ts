import {
  GetSlotByIdResponseSchema,
  SlotDetailSchema,
  VendorSnippetSchema,
} from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import {
  type Encoding,
  encodeInBatches,
  TextWriter,
  writeSlices,
  writeTexts,
} from '../../../shared/rpc/protobuf/batches.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import { timestampToJson, writeTimestamp } from '../../../shared/rpc/protobuf/timestamp.ts';
import type { Batch, TurnTaker } from '../../../shared/rpc/protobuf/turns.ts';
import type { ProductSlotRow, SlotTextRow } from '../slots/slot.ts';
import type { SnippetRow } from '../slots/snippets.ts';
import { slotFieldsToJson, writeAssociation, writeProduct, writeSlotFields, writeSlotIdOf } from './slot-fields.ts';

const detail = SlotDetailSchema.field;
const snippetFields = VendorSnippetSchema.field;

export interface ShownSnippet extends Omit<SnippetRow, 'validTill'> {
  /** In epoch milliseconds. */
  readonly validTill: number | null;
  readonly accessUrl: string;
}

/** The content of a response of getSlotById. */
export interface ShownSlot {
  readonly slot: SlotTextRow & { readonly productSlots: readonly ProductSlotRow[] };
  /** Flattened. */
  readonly deliverySequence: readonly number[];
  readonly vendorSnippets: readonly ShownSnippet[];
}

/** The response of getSlotById, encoded straight from the rows, and once for all calls that share it. */
export class SlotDetailResponse extends EncodedResponse<typeof GetSlotByIdResponseSchema> {
  readonly #shown: ShownSlot;
  #binary: Promise<Buffer> | undefined;
  #json: Promise<string> | undefined;

  constructor(shown: ShownSlot) {
    super(GetSlotByIdResponseSchema);
    this.#shown = shown;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    this.#binary ??= encodeInBatches(caller, (batch) => this.#encodeBinary(batch));
    return this.#binary;
  }

  toJson(caller: TurnTaker): Promise<string> {
    this.#json ??= encodeInBatches(caller, (batch) => this.#encodeJson(batch));
    return this.#json;
  }

  *#encodeBinary(batch: Batch): Encoding<Buffer> {
    const { slot, deliverySequence, vendorSnippets } = this.#shown;
    const writer = new FieldWriter().open(GetSlotByIdResponseSchema.field.slot.number);
    writeSlotFields(writer, slot, detail.etag);
    writer.int32s(detail.deliverySequence.number, deliverySequence);
    yield* writeSlices(batch, writer, slot.productSlots, (slice) => {
      for (const { product } of slice) {
        if (product !== null) writer.message(detail.products.number, () => writeProduct(writer, product));
      }
    });
    yield* writeSlices(batch, writer, slot.productSlots, (slice) => {
      for (const { productId, product } of slice) {
        writer.message(detail.productSlots.number, () => {
          writeSlotIdOf(writer, slot);
          writeAssociation(writer, productId, product);
        });
      }
    });
    const writeSnippets = (slice: readonly ShownSnippet[]) => {
      for (const snippet of slice) writeSnippet(writer, snippet);
    };
    yield* writeSlices(batch, writer, vendorSnippets, writeSnippets, unitsOfSnippet);
    return writer.close().finish();
  }

  *#encodeJson(batch: Batch): Encoding<string> {
    const { slot, deliverySequence, vendorSnippets } = this.#shown;
    const own = `${slotFieldsToJson(slot)},"deliverySequence":${JSON.stringify(deliverySequence)}`;
    const writer = new TextWriter().write(`{"slot":{${own},"products":[`);
    yield* writeTexts(batch, writer, slot.productSlots, (slice) =>
      itemsOf(slice.flatMap(({ product }) => product ?? [])),
    );
    writer.write('],"productSlots":[');
    yield* writeTexts(batch, writer, slot.productSlots, (slice) =>
      itemsOf(
        slice.map(({ slotId, productId, product }) =>
          product === null ? { slotId, productId } : { slotId, productId, product },
        ),
      ),
    );
    writer.write('],"vendorSnippets":[');
    yield* writeTexts(batch, writer, vendorSnippets, (slice) => itemsOf(slice.map(snippetToJson)), unitsOfSnippet);
    return writer.write(']}}').finish();
  }
}

const unitsOfSnippet = ({ productIds }: ShownSnippet) => 1 + productIds.length / 10;

function writeSnippet(writer: FieldWriter, snippet: ShownSnippet): void {
  writer.message(detail.vendorSnippets.number, () => {
    writer.string(snippetFields.snippetCode.number, snippet.snippetCode);
    writer.int32(snippetFields.slotId.number, snippet.slotId);
    writer.int32s(snippetFields.productIds.number, snippet.productIds);
    if (snippet.validTill !== null) writeTimestamp(writer, snippetFields.validTill.number, snippet.validTill);
    writer.string(snippetFields.accessUrl.number, snippet.accessUrl);
  });
}

function snippetToJson({ validTill, ...snippet }: ShownSnippet) {
  return validTill === null ? snippet : { ...snippet, validTill: timestampToJson(validTill) };
}

/** The items of a JSON array, without its brackets. */
const itemsOf = (items: readonly object[]) => JSON.stringify(items).slice(1, -1);
