import { maxInt32 } from '../../../shared/db/int32.ts';
import {
  type ListSlotsRequest,
  SlotOrder,
  type SlotPlanService,
  SlotState,
} from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { readPageToken, writePageToken } from '../../../shared/rpc/paging.ts';
import { countFound, showFound } from '../../../shared/searching/searching.ts';
import type { SlotPlanParts } from '../parts.ts';
import { selectPlanned, toPlannedSlot } from '../plan/planned-slot.ts';
import { countSlots, findSlots, type SlotFilters } from '../plan/slot-filters.ts';

const defaultLimit = 50;
// Slots are between the years 1 and 9999.
const [firstMs, endMs] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('+010000-01-01T00:00:00Z')];

/**
 * Design 12, listSlots: a page of slots by delivery time, then id. Throws INVALID_ARGUMENT for a date that does not
 * parse, and for a page token that belongs to other filters or another order.
 */
export function listSlots({
  database,
}: Pick<SlotPlanParts, 'database'>): Handler<typeof SlotPlanService.method.listSlots> {
  return async (request, call) => {
    const filters = readFilters(request);
    const order = request.order === SlotOrder.LATEST_FIRST ? 'latestFirst' : 'soonestFirst';
    const listed = ['planned slots', order, JSON.stringify(filters)];
    const last = request.pageToken === '' ? undefined : readPageToken(listed, request.pageToken);
    const params = toParams(filters, order, last, request.limit ?? defaultLimit);
    const all = toParams(filters, order, undefined, 0);
    const db = database.for(call);
    const [rows, total] = await Promise.all([
      showFound(db, findSlots(params), selectPlanned({ rows: params.rows })),
      request.withTotal ? countFound(db, countSlots(all)) : undefined,
    ]);
    const end = rows.at(-1);
    const nextPageToken = end?.hasNext ? writePageToken(listed, [end.micros, end.id]) : '';
    return { slots: mapped(rows, toPlannedSlot), nextPageToken, total };
  };
}

type Filters = ReturnType<typeof readFilters>;

/**
 * Reads the filters of a request in canonical form: equal filters have equal values. An absent filter becomes
 * undefined.
 */
function readFilters(request: ListSlotsRequest) {
  const { deliveryFrom, deliveryUntil, states, isCapacityFull, productId, groupId } = request;
  const asked = states.length === 0 ? [SlotState.ACTIVE] : states;
  return {
    from: optionalDate('delivery_from', deliveryFrom)?.getTime(),
    until: optionalDate('delivery_until', deliveryUntil)?.getTime(),
    states: [SlotState.ACTIVE, SlotState.INACTIVE].filter((state) => asked.includes(state)),
    ...{ isCapacityFull, productId, groupId },
  };
}

/** @param last the place of the last slot of the previous page. */
function toParams(
  filters: Filters,
  order: SlotFilters['order'],
  last: readonly string[] | undefined,
  limit: number,
): SlotFilters {
  const { from, until, states, isCapacityFull, productId, groupId } = filters;
  // The lowest id is before all slots of a time: one at `from` is listed, and one at `until` is not.
  const before = (ms: number) => ({ micros: `${ms}000`, id: -maxInt32 });
  const place = last && { micros: last[0] ?? '', id: Number(last[1]) };
  const above = (order === 'soonestFirst' ? place : undefined) ?? before(from ?? firstMs);
  const below = (order === 'latestFirst' ? place : undefined) ?? before(until ?? endMs);
  return {
    order,
    areActive: states.map((state) => state === SlotState.ACTIVE),
    isFull: isCapacityFull,
    productId,
    groupId,
    aboveMicros: above.micros,
    aboveId: above.id,
    belowMicros: below.micros,
    belowId: below.id,
    rows: limit + 1,
  };
}
