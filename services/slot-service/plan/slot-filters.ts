import { timeOf } from '../../../shared/db/micros.ts';
import { type BoundStatement, statement } from '../../../shared/db/statement.ts';
import { found, totalOf } from '../../../shared/searching/searching.ts';

/** The filters of a list of slots, and its place (design 12). */
export interface SlotFilters {
  readonly order: 'soonestFirst' | 'latestFirst';
  /** The lists to merge: that of active slots, that of the others, or both. */
  readonly areActive: readonly boolean[];
  readonly isFull: boolean | undefined;
  readonly productId: number | undefined;
  readonly groupId: number | undefined;
  /** The places between which the slots are, both exclusive: times in microseconds since the epoch, and ids. */
  readonly aboveMicros: string;
  readonly aboveId: number;
  readonly belowMicros: string;
  readonly belowId: number;
  readonly rows: number;
}

const orders = { soonestFirst: 'delivery_time, id', latestFirst: 'delivery_time desc, id desc' };

const isBetween = `
  (delivery_time, id) > (${timeOf('$aboveMicros')}, $aboveId::integer)
  and (delivery_time, id) < (${timeOf('$belowMicros')}, $belowId::integer)`;
const isOfProduct = 'id in (select slot_id from product_slots where product_id = $productId::integer)';
// Slots with more groups than their index has are looked at one by one.
const isOfGroup = `(group_ids[:100] @> array[$groupId::integer] or cardinality(group_ids) > 100) and $groupId = any(group_ids)`;

/**
 * Returns a statement that finds the first slots in order that match all filters. Each list of states is a range of an
 * index. PostgreSQL plans it for its values: it reads the slots in order where many match, and uses the index of the
 * product or the group where few do.
 */
export function findSlots(filters: SlotFilters): BoundStatement<unknown> {
  const order = `order by ${orders[filters.order]} limit $rows::bigint`;
  const lists = listsOf(filters).map((list) => `(${list} ${order})`);
  const find = statement<unknown, SlotFilters>(
    '',
    found(`select id from (${lists.join(' union all ')}) as slots ${order}`),
  );
  return find(filters);
}

/** Returns a statement that counts the slots that match all filters, up to a limit. */
export function countSlots(filters: SlotFilters): BoundStatement<{ total: number }> {
  return statement<{ total: number }, SlotFilters>('', totalOf(listsOf(filters).join(' union all ')))(filters);
}

/** Returns SQL of the slots that match all filters, for each list of states. */
function listsOf({ areActive, isFull, productId, groupId }: SlotFilters): string[] {
  const conditions = [
    isBetween,
    ...(isFull === undefined ? [] : [`${isFull ? '' : 'not '}is_capacity_full`]),
    ...(productId === undefined ? [] : [isOfProduct]),
    ...(groupId === undefined ? [] : [isOfGroup]),
  ].join(' and ');
  return areActive.map(
    (isActive) => `select id, delivery_time from slots where ${isActive ? '' : 'not '}is_active and ${conditions}`,
  );
}
