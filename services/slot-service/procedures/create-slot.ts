import { type Actor, actorOf, auditEntry, createdIds, createdLinks } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotParts } from '../parts.ts';
import {
  readWritten,
  type SlotRow,
  slotColumns,
  toSlot,
  type WrittenFields,
  writtenColumns,
  writtenEntry,
  writtenValues,
} from '../slots/slot.ts';
import {
  checkSnippets,
  insertSnippets,
  readSnippets,
  type SnippetFindings,
  type SnippetParams,
  snippetFindings,
  snippetsAreSound,
  snippetsWritten,
  toCreatedSnippets,
} from '../slots/snippets.ts';
import { appendRefreshRequest, requestIdColumn } from '../stores/requests.ts';
import { afterSlotWrite } from '../stores/slot-written.ts';

/**
 * Spec 4.1, createSlot. One statement checks the rules of snippets, and writes the slot, its associations and snippets
 * only if they hold. Group ids and the slot's product ids are not checked.
 *
 * Throws INVALID_ARGUMENT for times that are empty or not dates, and the errors of `checkSnippets`.
 */
export function createSlot(parts: SlotParts): Handler<typeof SlotService.method.createSlot> {
  return async (request, call) => {
    const { productIds, groupIds } = request;
    const fields = readWritten(request);
    const given = readSnippets(request.vendorSnippets);
    const json = { groupIdsJson: createdIds(groupIds), productIdsJson: createdLinks(productIds) };
    const insert = insertSlot({ ...actorOf(call), ...fields, groupIds, productIds, ...json, ...given.params });
    const found = await conditionalWrite(() => parts.database.for(call).query(insert));
    checkSnippets(given, found);
    if (found.id === null) throw new Error('nothing is wrong, and nothing was written');
    afterSlotWrite(parts, call, found);
    return {
      slot: toSlot(found),
      createdSnippets: toCreatedSnippets(given, found.id),
      message: 'Slot created successfully',
    };
  };
}

interface NewSlot extends SnippetParams, Actor, WrittenFields {
  groupIds: readonly number[];
  productIds: readonly number[];
  /** The id lists as JSON for the audit entry. */
  groupIdsJson: string;
  productIdsJson: string;
}

type Found = { mayWrite: boolean } & SnippetFindings & ((SlotRow & { storeRequestId: string }) | { id: null });

// UpdateSlotProducts accepts ids of slots that do not exist yet. `strays` deletes the associations that this id already
// has before the slot gets its own.
const insertSlot = statement<Found, NewSlot>(
  'createSlot',
  `with found as (select ${snippetFindings}),
   written as (
     insert into slots (${writtenColumns}, group_ids)
     select ${writtenValues}, $groupIds::integer[]
     from found where ${snippetsAreSound}
     returning *
   ),
   strays as (delete from product_slots using written where slot_id = written.id returning product_id),
   associations as (
     insert into product_slots (slot_id, product_id)
     select written.id, product_id
     -- Counting the strays makes PostgreSQL delete them first.
     from written, (select count(*) from strays) as deleted, unnest((select $productIds::integer[])) as product_id
     order by product_id
   ),
   ${insertSnippets},
   ${auditEntry(
     'slot',
     `select id, null::json as before, json_build_object(
        ${writtenEntry('written')}, 'groupIds', $groupIdsJson::json, 'isCapacityFull', is_capacity_full,
        'deliverySequence', delivery_sequence, 'productIds', $productIdsJson::json, 'vendorSnippets', $snippetsJson
      ) as after
      from written`,
   )},
   ${appendRefreshRequest('id', 'written')}
   select found.*, ${snippetsAreSound} as "mayWrite", ${slotColumns}, ${requestIdColumn}, ${snippetsWritten}
   from found left join written as slots on true`,
);
