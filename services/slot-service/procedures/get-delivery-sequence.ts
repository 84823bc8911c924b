import type { JsonValue } from '@bufbuild/protobuf';
import { statement } from '../../../shared/db/statement.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
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
  return async (request, call) => {
    const id = parseSlotId(request.id);
    if (id === undefined) throw invalidField('id', 'is not a slot id, an integer of 32 bits');
    return sequences.read(id, async () => {
      const [slot] = await database.for(call).query(selectSequence({ id }));
      if (slot === undefined) throw fail(slotErrors.slotNotFound);
      return slot.deliverySequence ?? {};
    });
  };
}

const selectSequence = statement<{ deliverySequence: JsonValue }, { id: number }>(
  'getDeliverySequence',
  'select delivery_sequence as "deliverySequence" from slots where id = $id',
);
