import { Code, type ConnectError } from '@connectrpc/connect';
import { type Actor, actorOf, auditEntry, changeOf, differing, keptRecord } from '../../../shared/audit/entry.ts';
import { conditionalWrite, etagMatches, type Guard, isAsSeen } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, errorInfo, fail, toPublicError } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { lockUnits } from '../slots/capacity.ts';
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
import { lockSlot } from '../slots/slot-lock.ts';
import {
  brokenSnippetRule,
  insertSnippets,
  readSnippets,
  refuseLostSnippetRace,
  type SnippetFindings,
  type SnippetParams,
  snippetFindings,
  snippetsAreSound,
  snippetsStored,
  toCreatedSnippets,
} from '../slots/snippets.ts';
import { afterSlotWrite, staleSlots } from '../stores/after-slot-write.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../stores/requests.ts';

type UpdateSlot = Handler<typeof SlotService.method.updateSlot>;

/**
 * Spec 4.1, updateSlot. Throws `Unable to Update Slot` for every failure, with the cause in the details. Only a call
 * that is cancelled, late or ended by a stopping service keeps its own error.
 */
export function updateSlot(parts: SlotParts): UpdateSlot {
  const write = writeSlot(parts);
  return async (request, call) => {
    try {
      return await write(request, call);
    } catch (error) {
      throw toUpdateFailure(error, call);
    }
  };
}

/**
 * Rules 1 to 5. One statement checks whether the slot exists and the rules of snippets (4), and writes
 * all (1 to 4) or nothing (5).
 *
 * Throws NOT_FOUND, ABORTED for an outdated etag, and the errors of createSlot.
 */
function writeSlot(parts: SlotParts): UpdateSlot {
  return async (request, call) => {
    // 1: an omitted active flag becomes true. 2: omitted group ids are already an empty list.
    const fields = readSlotFields(request);
    const { id, groupIds, etag } = request;
    // 3: given products replace the associations.
    const productIds = request.productIds?.ids;
    const given = readSnippets(request.vendorSnippets);
    call.chargeRows((productIds?.length ?? 0) + given.snippets.length, groupIds.length + given.listedIds);
    const update = { ...actorOf(call), id, etag, ...fields, groupIds, productIds, ...given.params };
    const unitLocks = fields.capacity === undefined ? [] : [lockUnits({ slotIds: [id] })];
    const db = parts.database.for(call);
    const found = await conditionalWrite((isRerun) =>
      db.pipeline([...unitLocks, ...(isRerun ? [lockSlot({ slotId: id })] : [])], replaceSlot(update)),
    );
    if (!found.mayWrite) {
      if (!found.exists) throw fail(slotErrors.slotNotFound);
      // 4
      throw found.isCurrent ? brokenSnippetRule(given, found) : staleSlots(parts, call, [id]);
    }
    // 5
    afterSlotWrite(parts, call, found.storeRequestId, [id]);
    return { slot: toSlot(found), createdSnippets: toCreatedSnippets(given, id), message: 'Slot updated successfully' };
  };
}

/** Spec 7, design 3 and 9: returns ABORTED for an outdated etag, and INTERNAL if the cause is not a broken rule. */
function toUpdateFailure(thrown: unknown, call: CallContext): ConnectError {
  const cause = toPublicError(thrown);
  // The caller has disconnected, its deadline has passed, or the service is stopping.
  if (call.signal.aborted) return cause;
  const isOfRule = [Code.InvalidArgument, Code.NotFound, Code.AlreadyExists].includes(cause.code);
  const isStale = errorInfo(cause)?.reason === commonErrors.etagMismatch.reason;
  const code = isStale ? Code.Aborted : Code.Internal;
  const row = isOfRule ? slotErrors.slotNotUpdated : { ...slotErrors.slotNotUpdated, code };
  return fail(row, {
    cause: thrown,
    metadata: { causeReason: errorInfo(cause)?.reason ?? '', causeMessage: cause.rawMessage },
  });
}

interface SlotUpdate extends SnippetParams, Actor, Guard, SlotFields {
  id: number;
  groupIds: readonly number[];
  /** Undefined leaves the associations unchanged. */
  productIds: readonly number[] | undefined;
}

type Found = { exists: boolean; isCurrent: boolean; mayWrite: boolean } & SnippetFindings &
  ((SlotRow & { storeRequestId: string }) | { id: null });

/** SQL of the condition that all rules hold, on the columns of `found`. */
const mayWrite = `("isCurrent" and ${snippetsAreSound})`;

const replaceSlot = statement<Found, SlotUpdate>(
  'updateSlot',
  `with seen as (select *, xmin from slots where id = $id),
   found as (
     select
       exists (select from seen) as "exists",
       exists (select from seen where ${etagMatches}) as "isCurrent",
       ${snippetFindings}
   ),
   wanted (id, ${slotFieldColumns}, group_ids) as (
     select id, ${slotFieldValues('seen')},
       -- 2: drops ids without a product group.
       array(
         select given.id
         from unnest($groupIds::integer[]) with ordinality as given (id, position)
         join product_groups using (id)
         order by position
       )
     from seen, found where ${mayWrite}
   ),
   ${changeOf(
     differing(
       `select id,
          json_build_object(
            ${slotFieldsEntry('seen')}, 'groupIds', to_json(seen.group_ids),
            'productIds', case when $productIds::integer[] is not null then array_to_json(array(
              select product_id from product_slots where slot_id = $id order by product_id
            )) end,
            'vendorSnippets', case when $snippetsJson::jsonb <> '[]' then ${snippetsStored} end
          ) as old,
          json_build_object(
            ${slotFieldsEntry('wanted')}, 'groupIds', to_json(wanted.group_ids),
            'productIds', case when $productIds is not null then array_to_json(array(select unnest($productIds) order by 1)) end,
            'vendorSnippets', case when $snippetsJson <> '[]' then ${snippetsStored} || $snippetsJson end
          ) as new
        from seen join wanted using (id)`,
     ),
   )},
   written as (
     update slots
     set (${slotFieldColumns}, group_ids) = (select ${slotFieldColumns}, group_ids from wanted), etag = default
     from seen join change using (id) where differs and ${isAsSeen('slots')}
     returning slots.*, slots.xmin
   ),
   removed as (
     delete from product_slots using written
     where slot_id = written.id and $productIds is not null
       and product_id not in (select unnest($productIds))
   ),
   added as (
     insert into product_slots (slot_id, product_id)
     select written.id, product_id from written, unnest($productIds) as product_id
     order by product_id
     on conflict do nothing
   ),
   ${insertSnippets},
   ${auditEntry('slot')},
   ${keptRecord},
   ${appendRefreshRequest('id', 'kept')}
   select found.*, ${mayWrite} as "mayWrite", ${slotColumns}, ${storeRequestIdColumn}, ${refuseLostSnippetRace}
   from found left join kept as slots on true`,
);
