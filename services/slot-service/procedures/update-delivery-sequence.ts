import { type Actor, actorOf, auditEntry, changeOf, keptRecord } from '../../../shared/audit/entry.ts';
import { etagMatches, type Guard } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { readJson } from '../../../shared/rpc/json-value.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { isSequenceMap } from '../slots/delivery-sequence.ts';
import type { Sequence } from '../slots/sequence-cache.ts';
import { sequenceChannel } from '../slots/sequence-cache.ts';
import { staleSlots } from '../stores/after-slot-write.ts';

/**
 * Spec 4.1, updateDeliverySequence: stores the value as given. A map rewrites the cached copy and notifies the other
 * replicas. Any other value leaves the cache unchanged. Throws NOT_FOUND, and ABORTED for an outdated etag.
 */
export function updateDeliverySequence({
  database,
  sequences,
}: SlotParts): Handler<typeof SlotService.method.updateDeliverySequence> {
  return async (request, call) => {
    const { id, etag } = request;
    const given = readJson('delivery_sequence', request.deliverySequence);
    const db = database.for(call);
    const store = async (updateId?: string) => {
      const sequence = { deliverySequence: JSON.stringify(given), updateId };
      const [slot] = await db.query(storeSequence({ ...actorOf(call), id, etag, ...sequence }));
      if (slot === undefined) throw fail(slotErrors.slotNotFound);
      if (slot.etag === null) throw staleSlots({ sequences, database }, call, [id]);
      return slot;
    };
    const slot = isSequenceMap(given) ? await sequences.rewrite(id, call, store) : await store();
    return { slot: { id, deliverySequence: slot.deliverySequence }, message: 'Delivery sequence updated successfully' };
  };
}

interface SequenceUpdate extends Actor, Guard {
  id: number;
  deliverySequence: string;
  /** Undefined: no notification is sent. */
  updateId: string | undefined;
}

const storeSequence = statement<Sequence | { etag: null }, SequenceUpdate>(
  'updateDeliverySequence',
  `with seen as (select id, delivery_sequence, etag from slots where id = $id for no key update),
   ${changeOf(
     `select id, json_build_object('deliverySequence', delivery_sequence) as before,
        json_build_object('deliverySequence', $deliverySequence::jsonb) as after
      from seen where ${etagMatches}`,
   )},
   written as (
     update slots set delivery_sequence = $deliverySequence, etag = default
     from change where slots.id = change.id and differs
     returning slots.id, slots.delivery_sequence, slots.etag
   ),
   ${auditEntry('slot')},
   ${keptRecord},
   notified as (
     select pg_notify(own_name('${sequenceChannel}'), json_build_object('slotId', id, 'updateId', $updateId::text)::text)
     from kept where $updateId is not null
   )
   select kept.delivery_sequence as "deliverySequence", kept.etag, (select count(*) from notified)
   from seen left join kept on true`,
);
