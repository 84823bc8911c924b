import { type Actor, actorOf, auditEntry, idsEntryJson, linksEntryJson } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotParts } from '../parts.ts';
import {
  readSlotFields,
  type SlotFields,
  type SlotRow,
  slotColumns,
  slotFieldColumns,
  slotFieldsEntry,
  slotFieldValues,
  toSlot,
} from '../slots/slot.ts';
import {
  brokenSnippetRule,
  insertSnippets,
  readSnippets,
  refuseLostSnippetRace,
  type SnippetFindings,
  type SnippetParams,
  snippetFindings,
  snippetsAreSound,
  toCreatedSnippets,
} from '../slots/snippets.ts';
import { afterSlotWrite } from '../stores/after-slot-write.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../stores/requests.ts';

/**
 * Spec 4.1, createSlot. One statement checks the rules of snippets, and writes the slot, its associations and snippets
 * only if they hold. Group ids and the slot's product ids are not checked.
 *
 * Throws INVALID_ARGUMENT for times that are empty or not dates, and the errors of `brokenSnippetRule`.
 */
export function createSlot(parts: SlotParts): Handler<typeof SlotService.method.createSlot> {
  return async (request, call) => {
    const { productIds, groupIds } = request;
    const fields = readSlotFields(request);
    const given = readSnippets(request.vendorSnippets);
    call.chargeRows(productIds.length + given.snippets.length, groupIds.length + given.listedIds);
    const json = { groupIdsJson: idsEntryJson(groupIds), productIdsJson: linksEntryJson(productIds) };
    const insert = insertSlot({ ...actorOf(call), ...fields, groupIds, productIds, ...json, ...given.params });
    const result = await conditionalWrite(() => parts.database.for(call).query(insert));
    if (!result.mayWrite) throw brokenSnippetRule(given, result);
    afterSlotWrite(parts, call, result.storeRequestId);
    return {
      slot: toSlot(result),
      createdSnippets: toCreatedSnippets(given, result.id),
      message: 'Slot created successfully',
    };
  };
}

interface NewSlot extends SnippetParams, Actor, SlotFields {
  groupIds: readonly number[];
  productIds: readonly number[];
  /** The id lists as JSON for the audit entry. */
  groupIdsJson: string;
  productIdsJson: string;
}

type Result = { mayWrite: boolean } & SnippetFindings & ((SlotRow & { storeRequestId: string }) | { id: null });

// The etag is the column's default, `next_etag()`.
//
// UpdateSlotProducts accepts ids of slots that do not exist yet. `strays` deletes the associations that this id already
// has before the slot gets its own.
const insertSlot = statement<Result, NewSlot>(
  'createSlot',
  `with found as (select ${snippetFindings}),
   written as (
     insert into slots (${slotFieldColumns}, group_ids, shown_bytes)
     -- Measured here, which spares the trigger. The rest of the row has some 64 bytes.
     select fields.*, 64 + octet_length(fields::text)
     from found, (select ${slotFieldValues()}, $groupIds::integer[]) as fields
     where ${ifNewKey(snippetsAreSound)}
     returning *
   ),
   strays as (delete from product_slots using written where slot_id = written.id returning product_id),
   associations as (
     insert into product_slots (slot_id, product_id)
     select written.id, product_id
     -- Counting the strays makes PostgreSQL delete them first.
     from written, (select count(*) from strays) as deleted, unnest($productIds::integer[]) as product_id
     order by product_id
   ),
   ${insertSnippets},
   ${auditEntry(
     'slot',
     `select id, null::json as before, json_strip_nulls(json_build_object(
        ${slotFieldsEntry('written')}, 'groupIds', $groupIdsJson::json, 'isCapacityFull', is_capacity_full,
        'deliverySequence', delivery_sequence, 'productIds', $productIdsJson::json, 'vendorSnippets', $snippetsJson
      )) as after
      from written`,
   )},
   ${appendRefreshRequest('id', 'written')}
   select found.*, ${snippetsAreSound} as "mayWrite", ${slotColumns}, ${storeRequestIdColumn}, ${refuseLostSnippetRace}
   from found left join written as slots on true`,
);
