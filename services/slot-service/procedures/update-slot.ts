import { Code, type ConnectError } from '@connectrpc/connect';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { errorInfo, fail, toPublicError } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { lockSlotProducts } from '../slots/product-locks.ts';
import { type SlotRow, slotColumns, toSlot } from '../slots/slot.ts';
import {
  checkSnippets,
  insertSnippets,
  readSnippets,
  type SnippetFindings,
  type SnippetParams,
  snippetFindings,
  snippetsAreSound,
  toCreatedSnippets,
} from '../slots/snippets.ts';
import { readTimes } from '../slots/times.ts';
import { appendRefreshRequest, requestIdColumn, scheduleRefresh } from '../stores/requests.ts';

type UpdateSlot = Handler<typeof SlotService.method.updateSlot>;

/**
 * Spec 4.1, updateSlot. Throws `Unable to Update Slot` for every failure, with its cause in the details;
 * only the end of the call itself (cancelled, late, the service stops) keeps its own error.
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
 * Rules 1 to 5. One statement finds whether the slot exists and what the rules of snippets (4) need, and
 * writes all (1 to 4) or nothing (5).
 *
 * Throws NOT_FOUND, and what createSlot throws.
 */
function writeSlot(parts: SlotParts): UpdateSlot {
  return async (request, call) => {
    // 1: an active flag that is omitted becomes true. 2: group ids that are omitted are an empty list already.
    const { id, isActive = true, groupIds } = request;
    const times = readTimes(request);
    // 3: products that are given replace the associations.
    const productIds = request.productIds?.ids;
    const locks = productIds === undefined ? [] : [lockSlotProducts({ slotId: id })];
    const given = readSnippets(request.vendorSnippets);
    const update = replaceSlot({ id, ...times, isActive, groupIds, productIds, ...given.params });
    const found = await conditionalWrite(() => parts.database.for(call).batch(locks, update));
    if (!found.exists) throw fail(slotErrors.slotNotFound);
    // 4
    checkSnippets(given, found);
    if (found.id === null) throw new Error('nothing is wrong, and nothing was written');
    // 5
    scheduleRefresh(parts, call, found.storeRequestId);
    return {
      slot: toSlot(found),
      createdSnippets: toCreatedSnippets(given, id),
      message: 'Slot updated successfully',
    };
  };
}

/** Spec 7 and design 3: INTERNAL where the cause is no error of a rule. */
function toUpdateFailure(thrown: unknown, call: CallContext): ConnectError {
  const cause = toPublicError(thrown);
  // The caller has left, its deadline has passed, or the service stops.
  if (call.signal.aborted) return cause;
  const isOfRule = [Code.InvalidArgument, Code.NotFound, Code.AlreadyExists].includes(cause.code);
  const row = isOfRule ? slotErrors.slotNotUpdated : { ...slotErrors.slotNotUpdated, code: Code.Internal };
  return fail(row, {
    cause: thrown,
    metadata: { causeReason: errorInfo(cause)?.reason ?? '', causeMessage: cause.rawMessage },
  });
}

interface SlotUpdate extends SnippetParams {
  id: number;
  deliveryTime: Date;
  freezeTime: Date;
  isActive: boolean;
  groupIds: readonly number[];
  /** Undefined leaves the associations alone. */
  productIds: readonly number[] | undefined;
}

type Found = { exists: boolean } & SnippetFindings & ((SlotRow & { storeRequestId: string }) | { id: null });

const replaceSlot = statement<Found, SlotUpdate>(
  'updateSlot',
  `with found as (select exists (select from slots where id = $id) as "exists", ${snippetFindings}),
   written as (
     update slots
     set delivery_time = $deliveryTime, freeze_time = $freezeTime, is_active = $isActive,
         -- 2: ids of no product group are dropped.
         group_ids = array(
           select given.id
           from unnest($groupIds::integer[]) with ordinality as given (id, position)
           join product_groups using (id)
           order by position
         )
     from found
     where id = $id and ${snippetsAreSound}
     returning slots.*
   ),
   removed as (
     delete from product_slots using written
     where slot_id = written.id and $productIds::integer[] is not null
       and product_id not in (select unnest($productIds))
   ),
   added as (
     insert into product_slots (slot_id, product_id)
     select written.id, product_id from written, unnest($productIds) as product_id
     order by product_id
     on conflict do nothing
   ),
   ${insertSnippets},
   ${appendRefreshRequest('written')}
   select found.*, ${slotColumns}, ${requestIdColumn}
   from found left join written as slots on true`,
);
