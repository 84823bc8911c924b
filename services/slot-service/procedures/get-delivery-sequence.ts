import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { statement } from '../../../shared/db/statement.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import { GetDeliverySequenceResponseSchema, type SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { CachedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { parseSlotId } from '../slots/delivery-sequence.ts';

/**
 * Spec 4.1, getDeliverySequence: the cached copy, or else what is stored, with null as an empty object.
 * Throws INVALID_ARGUMENT for an id that is no int32, NOT_FOUND.
 */
export function getDeliverySequence({
  database,
  sequences,
}: SlotParts): Handler<typeof SlotService.method.getDeliverySequence> {
  const responses = new SequenceResponses();
  return async (request, call) => {
    const id = parseSlotId(request.id);
    if (id === undefined) throw invalidField('id', 'is not a slot id, an integer of 32 bits');
    const sequence = await sequences.read(id, async () => {
      const [slot] = await database.for(call).query(selectSequence({ id }));
      if (slot === undefined) throw fail(slotErrors.slotNotFound);
      return slot.deliverySequence ?? {};
    });
    return responses.of(sequence);
  };
}

/** The responses with cached sequences: each is encoded once, for as long as the cache keeps the sequence. */
class SequenceResponses {
  readonly #responses = new WeakMap<object, CachedResponse<typeof GetDeliverySequenceResponseSchema>>();

  of(sequence: JsonValue): CachedResponse<typeof GetDeliverySequenceResponseSchema> {
    const key = typeof sequence === 'object' ? sequence : null;
    const known = key && this.#responses.get(key);
    if (known) return known;
    const message = create(GetDeliverySequenceResponseSchema, { deliverySequence: fromJson(ValueSchema, sequence) });
    const response = new CachedResponse(GetDeliverySequenceResponseSchema, message);
    if (key) this.#responses.set(key, response);
    return response;
  }
}

const selectSequence = statement<{ deliverySequence: JsonValue }, { id: number }>(
  'getDeliverySequence',
  'select delivery_sequence as "deliverySequence" from slots where id = $id',
);
