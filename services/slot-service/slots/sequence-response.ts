import type { JsonValue } from '@bufbuild/protobuf';
import { GetDeliverySequenceResponseSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import { readWrittenValue, writeValue } from '../../../shared/rpc/protobuf/json-value.ts';

/** What is stored of a slot's sequence, and the etag of the slot. */
export interface Sequence {
  readonly deliverySequence: JsonValue;
  readonly etag: string;
}

/**
 * The response of getDeliverySequence, for a cache: it is held encoded, in the form that was asked for
 * last. A message would take some 70 times the memory, and both forms twice.
 */
export class SequenceResponse extends EncodedResponse<typeof GetDeliverySequenceResponseSchema> {
  readonly slotId: number;
  /** The etag of the slot. */
  readonly etag: string;
  #encoded: Buffer | string;
  readonly #onChange: (response: SequenceResponse) => void;

  /** @param onChange is told when the response takes another form, and so another size. */
  constructor(slotId: number, { deliverySequence, etag }: Sequence, onChange: (response: SequenceResponse) => void) {
    super(GetDeliverySequenceResponseSchema);
    this.slotId = slotId;
    this.etag = etag;
    this.#encoded = JSON.stringify({ deliverySequence, etag } satisfies Sequence);
    this.#onChange = onChange;
  }

  /** How much memory the encoded form takes: of a text, a byte for each ASCII character, or else two for each. */
  get bytes(): number {
    const { length } = this.#encoded;
    return Buffer.byteLength(this.#encoded) === length ? length : 2 * length;
  }

  async toBinary(): Promise<Buffer> {
    if (typeof this.#encoded !== 'string') return this.#encoded;
    const { deliverySequence }: Sequence = JSON.parse(this.#encoded);
    const writer = new FieldWriter();
    writer.message(this.schema.field.deliverySequence.number, () => writeValue(writer, deliverySequence));
    writer.string(this.schema.field.etag.number, this.etag);
    const binary = writer.finish();
    this.#change(binary);
    return binary;
  }

  async toJson(): Promise<string> {
    if (typeof this.#encoded === 'string') return this.#encoded;
    const deliverySequence = readWrittenValue(this.#encoded);
    const text = JSON.stringify({ deliverySequence, etag: this.etag } satisfies Sequence);
    this.#change(text);
    return text;
  }

  #change(encoded: Buffer | string): void {
    this.#encoded = encoded;
    this.#onChange(this);
  }
}
