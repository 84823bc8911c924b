import { maxInt32 } from '../../../shared/db/int32.ts';
import { microsOf } from '../../../shared/db/micros.ts';
import { statement } from '../../../shared/db/statement.ts';
import {
  type ListSlotsRequest,
  SlotOrder,
  type SlotPlanService,
  SlotState,
} from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { jsonTimeText, mapped } from '../../../shared/rpc/answers/answer.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { readPageToken, writePageToken } from '../../../shared/rpc/paging.ts';
import { foundIds, showFound } from '../../../shared/searching/searching.ts';
import type { SlotPlanParts } from '../parts.ts';
import { findSlots, type SlotFilters } from '../plan/slot-filters.ts';
import { type SlotRow, shortSlotColumns, toCounts } from '../slots/slot.ts';
import { maxProductIds } from '../slots/slot-list.ts';

const defaultLimit = 50;
// Slots are between the years 1 and 9999.
const [firstMs, endMs] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('+010000-01-01T00:00:00Z')];
// A page ends early when its slots have this much, and always has one slot. A slot shows no more snippets.
const maxGroupBytes = 1024 * 1024;
const maxSnippets = 100_000;

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
    const rows = await showFound(database.for(call), findSlots(params), selectPage({ rows: params.rows }));
    const end = rows.at(-1);
    const nextPageToken = end?.hasNext ? writePageToken(listed, [end.micros, end.id]) : '';
    return { slots: mapped(rows, toPlannedSlot), nextPageToken };
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

interface PlannedSlotRow extends Omit<SlotRow, 'deliverySequence'> {
  productCount: number;
  productNames: string[];
  snippetCodes: string[];
  /** The place of the slot: its delivery time in microseconds since the epoch. */
  micros: string;
  hasNext: boolean;
}

function toPlannedSlot({ deliveryTime, freezeTime, groupIds, ...slot }: PlannedSlotRow) {
  return {
    ...slot,
    ...toCounts(slot),
    deliveryTime: jsonTimeText(deliveryTime),
    freezeTime: jsonTimeText(freezeTime),
    groupIds: groupIds,
  };
}

// Products and snippets are counted slot by slot, in the order of the page, up to a limit. `ended` has the place of the
// first slot that is not shown: at a limit the slot that was counted last, of which there may be more. A page shows one
// slot at least.
const selectPage = statement<PlannedSlotRow, { rows: number }>(
  'listSlots',
  `with page as materialized (select id, place from ${foundIds}),
     associated as materialized (
       select place, count(*)::integer as products
       from (
         select place from page, lateral (select from product_slots where slot_id = page.id offset 0) as products
         limit ${maxProductIds}
       ) as products
       group by place
     ),
     named as materialized (
       select place, json_agg(snippet_code order by snippet_code collate "C") as codes, count(*) as snippets
       from (
         select place, snippet_code
         from page, lateral (select snippet_code from vendor_snippets where slot_id = page.id offset 0) as snippets
         limit ${maxSnippets}
       ) as snippets
       group by place
     ),
     listed as materialized (
       -- The size of an array is known without reading it.
       select slots.*, place, sum(pg_column_size(group_ids)) over (order by place) as group_bytes
       from page, lateral (select * from slots where id = page.id offset 0) as slots
     ),
     ended as materialized (
       select greatest(2, least(
         $rows::bigint,
         (select max(place) from associated having sum(products) = ${maxProductIds}),
         (select max(place) from named having sum(snippets) = ${maxSnippets}),
         (select min(place) from listed where group_bytes > ${maxGroupBytes})
       )) as place
     )
     select ${shortSlotColumns}, coalesce(products, 0) as "productCount",
       array_to_json(array(
         select name
         from product_slots, lateral (select name from products where id = product_id offset 0) as products
         where slot_id = slots.id order by product_id limit 3
       )) as "productNames",
       coalesce(codes, '[]') as "snippetCodes", ${microsOf('slots.delivery_time')} as micros,
       (select count(*) from page) >= ended.place as "hasNext"
     from ended, listed as slots left join associated using (place) left join named using (place)
     where slots.place < ended.place
     order by slots.place`,
);
