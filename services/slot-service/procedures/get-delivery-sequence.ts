import { maxInt32 } from '../../../shared/db/int32.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { keyedStatement, readBySize, type Sized } from '../../../shared/reads/shared-read.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { parseSlotId } from '../slots/delivery-sequence.ts';
import type { Sequence } from '../slots/sequence-cache.ts';

/**
 * Spec 4.1, getDeliverySequence: returns the cached copy or else the stored sequence; null becomes an empty object.
 * Throws INVALID_ARGUMENT for an id that is not an int32, and NOT_FOUND.
 */
export function getDeliverySequence({
  database,
  sequences,
}: SlotParts): Handler<typeof SlotService.method.getDeliverySequence> {
  const readSequence = readBySize<number, SlotKey, Sequence, Sequence>(database, {
    select: selectSequence,
    keyOf: ({ id }) => id,
    toValue: ({ deliverySequence, etag }) => ({ deliverySequence: deliverySequence ?? {}, etag }),
    maxSizes: { shared: 16 * 1024, alone: maxInt32 },
  });
  return async (request, call) => {
    const id = parseSlotId(request.id);
    if (id === undefined) throw invalidField('id', 'is not a slot id, an integer of 32 bits');
    return sequences.read(id, async () => {
      const sequence = await readSequence(id, call);
      if (sequence === undefined) throw fail(slotErrors.slotNotFound);
      return sequence;
    });
  };
}

interface SlotKey {
  id: number;
}

const selectSequence = keyedStatement<number, Sized<SlotKey, Sequence>, { maxSize: number }>(
  'getDeliverySequence',
  'integer',
  `select id, etag, shown_bytes > $maxSize::integer as "isTooLarge",
     case when shown_bytes <= $maxSize then delivery_sequence end as "deliverySequence"
   from slots where id = $key`,
);
