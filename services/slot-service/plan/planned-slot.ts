import { microsOf } from '../../../shared/db/micros.ts';
import { statement } from '../../../shared/db/statement.ts';
import { jsonTimeText } from '../../../shared/rpc/answers/answer.ts';
import { foundIds } from '../../../shared/searching/searching.ts';
import { type SlotRow, shortSlotColumns, toCounts } from '../slots/slot.ts';
import { maxProductIds } from '../slots/slot-list.ts';

// A page ends early when its slots have this much, and always has one slot. A slot shows no more snippets.
const maxGroupBytes = 1024 * 1024;
const maxSnippets = 100_000;

export interface PlannedSlotRow extends Omit<SlotRow, 'deliverySequence'> {
  productCount: number;
  productNames: string[];
  snippetCodes: string[];
  /** The place of the slot: its delivery time in microseconds since the epoch. */
  micros: string;
  hasNext: boolean;
}

/** Converts a record to a `PlannedSlot`. */
export function toPlannedSlot({ deliveryTime, freezeTime, groupIds, ...slot }: PlannedSlotRow) {
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
export const selectPlanned = statement<PlannedSlotRow, { rows: number }>(
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
