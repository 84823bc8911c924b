import type { ConnectError } from '@connectrpc/connect';
import { type Actor, actorOf, auditEntry, changeOf, keptRecord } from '../../../shared/audit/entry.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import type { SlotPlanService, SlotVersion } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotPlanParts } from '../parts.ts';
import { lockUnits } from '../slots/capacity.ts';
import { afterSlotWrite, staleSlots } from '../stores/after-slot-write.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../stores/requests.ts';

/**
 * Design 12, updateSlots: sets a flag or the capacity of all given slots, or of none. Throws INVALID_ARGUMENT for a slot
 * that is given twice, NOT_FOUND, and ABORTED for outdated etags.
 */
export function updateSlots(parts: SlotPlanParts): Handler<typeof SlotPlanService.method.updateSlots> {
  return async ({ slots, change }, call) => {
    requireDistinct(slots);
    const ids = slots.map(({ id }) => id);
    if (change.case === undefined) throw invalidField('change', 'is required');
    const { case: field, value } = change;
    call.chargeRows(rowsOfChange * ids.length);
    const etags = slots.map(({ etag }) => etag);
    const set = setField[field]({ ...actorOf(call), ids, etags, value });
    const slotIds = ids.toSorted((left, right) => left - right);
    const locks = field === 'capacity' ? [lockCapacities(), lockUnits({ slotIds })] : [];
    const found = await parts.database.for(call).pipeline(locks, set);
    const [first] = found;
    if (first === undefined || !first.mayWrite) throw refuse(parts, call, found);
    const changed = found.filter(({ differs }) => differs).map(({ id }) => id);
    if (changed.length > 0) {
      afterSlotWrite(parts, call, first.storeRequestId, changed);
    }
    return { slots: found.map(({ id, etag }) => ({ id, etag: etag ?? '' })), changed: changed.length };
  };
}

/** What a slot that changes takes, with its audit entry. */
const rowsOfChange = 4;

// PostgreSQL has room for some 6,000 locks, so one call at a time locks many slots.
const lockCapacities = statement<never>(
  'lockCapacities',
  "select pg_advisory_xact_lock(hashtext(own_name('capacities of slots')), 0)",
);

/** Returns the error for slots that do not exist, or else for those with other etags. */
function refuse(parts: SlotPlanParts, call: CallContext, found: readonly FoundSlot[]): ConnectError {
  const missing = found.filter(({ etag }) => etag === null).map(({ id }) => id);
  if (missing.length > 0) return fail(slotErrors.slotNotFound, { metadata: { slotIds: missing.join() } });
  const stale = found.filter(({ isCurrent }) => !isCurrent).map(({ id }) => id);
  return staleSlots(parts, call, stale, { slotIds: stale.join() });
}

function requireDistinct(slots: readonly SlotVersion[]): void {
  const seen = new Set<number>();
  for (const [index, { id }] of slots.entries()) {
    if (seen.has(id)) throw invalidField(`slots[${index}].id`, `the slot ${id} is given twice`);
    seen.add(id);
  }
}

interface FoundSlot {
  id: number;
  /** Null if there is no such slot. */
  etag: string | null;
  isCurrent: boolean;
  /** Whether all slots exist and are current. */
  mayWrite: boolean;
  differs: boolean;
  storeRequestId: string;
}

// Locking in the order of ids prevents deadlocks between two calls for the same slots.
const setFieldOf = (field: string, column: string, value: string) =>
  statement<FoundSlot, { ids: readonly number[]; etags: readonly string[]; value: boolean | number } & Actor>(
    `updateSlots-${field}`,
    `with given as materialized (
       select * from unnest($ids::integer[], $etags::text[]) with ordinality as given (id, etag, place)
     ),
     seen as materialized (
       select id, ${column}, etag from slots where id = any($ids::integer[])
       order by id for no key update
     ),
     found as materialized (
       select given.id, place, seen.etag::text as etag,
         seen.id is not null and given.etag in ('', seen.etag::text) as is_current
       from given left join seen using (id)
     ),
     verdict as materialized (select bool_and(is_current) as may_write from found),
     ${changeOf(
       `select id, json_strip_nulls(json_build_object('${field}', ${column})) as before,
          json_strip_nulls(json_build_object('${field}', ${value})) as after
        from seen, verdict where may_write`,
     )},
     written as (
       update slots set ${column} = ${value}, etag = default
       from change where slots.id = change.id and differs
       returning slots.id, slots.${column}, slots.etag
     ),
     ${auditEntry('slot')},
     ${keptRecord},
     ${appendRefreshRequest('id', 'written')}
     select found.id, coalesce(kept.etag::text, found.etag) as etag, is_current as "isCurrent", may_write as "mayWrite",
       coalesce(differs, false) as differs, ${storeRequestIdColumn}
     from verdict, found left join kept using (id) left join change using (id)
     order by place`,
  );

const setField = {
  isCapacityFull: setFieldOf('isCapacityFull', 'is_capacity_full', '$value::boolean'),
  isActive: setFieldOf('isActive', 'is_active', '$value::boolean'),
  capacity: setFieldOf('capacity', 'capacity', 'nullif($value::integer, 0)'),
};
