import type { JsonValue } from '@bufbuild/protobuf';
import {
  SequencedSlotSchema,
  UpdateDeliverySequenceResponseSchema,
} from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import { writeValue } from '../../../shared/rpc/protobuf/json-value.ts';

const fields = UpdateDeliverySequenceResponseSchema.field;

/** The content of a response of updateDeliverySequence. */
export interface UpdatedSequence {
  readonly slot: { readonly id: number; readonly deliverySequence: JsonValue };
  readonly message: string;
}

/** The response of updateDeliverySequence, encoded straight from the JSON value, which may have 120,000 numbers. */
export class UpdatedSequenceResponse extends EncodedResponse<typeof UpdateDeliverySequenceResponseSchema> {
  readonly #updated: UpdatedSequence;

  constructor(updated: UpdatedSequence) {
    super(UpdateDeliverySequenceResponseSchema);
    this.#updated = updated;
  }

  async toBinary(): Promise<Buffer> {
    const { slot, message } = this.#updated;
    const writer = new FieldWriter();
    writer.message(fields.slot.number, () => {
      writer.int32(SequencedSlotSchema.field.id.number, slot.id);
      writer.message(SequencedSlotSchema.field.deliverySequence.number, () =>
        writeValue(writer, slot.deliverySequence),
      );
    });
    return writer.string(fields.message.number, message).finish();
  }

  async toJson(): Promise<string> {
    return JSON.stringify(this.#updated);
  }
}
