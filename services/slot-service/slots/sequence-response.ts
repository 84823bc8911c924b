import { fromBinary, fromJsonString, type JsonValue, toJsonString } from '@bufbuild/protobuf';
import { GetDeliverySequenceResponseSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedResponse, encodeMessage, jsonWriteOptions } from '../../../shared/rpc/answers/encoding.ts';

/** A slot's stored sequence and etag. */
export interface Sequence {
  readonly deliverySequence: JsonValue;
  readonly etag: string;
}

/**
 * The response of getDeliverySequence for the cache, kept encoded in the form that was last requested. A message would
 * take about 70 times the memory, and keeping both forms twice.
 */
export class SequenceResponse extends EncodedResponse<typeof GetDeliverySequenceResponseSchema> {
  readonly slotId: number;
  /** The etag of the slot. */
  readonly etag: string;
  #encoded: Buffer | string;
  readonly #onChange: (response: SequenceResponse) => void;

  /** @param onChange called when the response changes its form, and thus its size. */
  constructor(slotId: number, { deliverySequence, etag }: Sequence, onChange: (response: SequenceResponse) => void) {
    super(GetDeliverySequenceResponseSchema);
    this.slotId = slotId;
    this.etag = etag;
    this.#encoded = JSON.stringify({ deliverySequence, etag } satisfies Sequence);
    this.#onChange = onChange;
  }

  /** The memory of the encoded form in bytes: a text takes one byte per character if it is ASCII, else two. */
  get bytes(): number {
    const { length } = this.#encoded;
    return Buffer.byteLength(this.#encoded) === length ? length : 2 * length;
  }

  async toBinary(): Promise<Buffer> {
    if (typeof this.#encoded !== 'string') return this.#encoded;
    const binary = encodeMessage(this.schema, fromJsonString(this.schema, this.#encoded));
    this.#change(binary);
    return binary;
  }

  async toJson(): Promise<string> {
    if (typeof this.#encoded === 'string') return this.#encoded;
    const text = toJsonString(this.schema, fromBinary(this.schema, this.#encoded), jsonWriteOptions);
    this.#change(text);
    return text;
  }

  #change(encoded: Buffer | string): void {
    this.#encoded = encoded;
    this.#onChange(this);
  }
}
