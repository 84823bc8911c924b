import type { JsonValue } from '@bufbuild/protobuf';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { readJson } from '../../../shared/rpc/protobuf/json-value.ts';
import { UpdatedSequenceResponse } from '../encoding/updated-sequence.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { isSequenceMap } from '../slots/delivery-sequence.ts';
import { sequenceChannel } from '../slots/sequence-cache.ts';

/**
 * Spec 4.1, updateDeliverySequence: stores the value as it is given. Only a map rewrites the cached
 * copy, and notifies the other replicas; any other value leaves the cache alone. Throws NOT_FOUND.
 */
export function updateDeliverySequence({
  database,
  sequences,
}: SlotParts): Handler<typeof SlotService.method.updateDeliverySequence> {
  return async (request, call) => {
    const { id } = request;
    const given = readJson('delivery_sequence', request.deliverySequence);
    const db = database.for(call);
    const store = async (updateId?: string) => {
      const [slot] = await db.query(storeSequence({ id, deliverySequence: JSON.stringify(given), updateId }));
      if (slot === undefined) throw fail(slotErrors.slotNotFound);
      return slot;
    };
    const slot = isSequenceMap(given) ? await sequences.rewrite(id, store) : await store();
    return new UpdatedSequenceResponse({
      slot: { id, deliverySequence: slot.deliverySequence },
      message: 'Delivery sequence updated successfully',
    });
  };
}

interface SequenceUpdate {
  id: number;
  deliverySequence: string;
  /** Undefined notifies nobody. */
  updateId: string | undefined;
}

const storeSequence = statement<{ deliverySequence: JsonValue }, SequenceUpdate>(
  'updateDeliverySequence',
  `with written as (update slots set delivery_sequence = $deliverySequence::jsonb where id = $id returning *),
   notified as (
     select pg_notify('${sequenceChannel}', json_build_object('slotId', id, 'updateId', $updateId::text)::text)
     from written where $updateId is not null
   )
   select delivery_sequence as "deliverySequence", (select count(*) from notified) from written`,
);
