import { timeOf } from '../../../shared/db/micros.ts';

// Finds the slots of a page, fast for filters that many slots match and for those that few match (design 12).
//
// Where many match, reading the slots in the page's order is fastest: it stops when the page is full. Where few match,
// an index of the filter is. A product's index tells how many slots have it. How many slots a group has is not known, so the
// first slots in order are tried, and the group's index is used if they do not fill the page.
//
// Each parameter is in a subselect, which hides it from the planner (see searching.ts), and "offset 0" keeps the order
// of the steps.

/** A product that no more slots than this have is looked up by its index. */
const fewSlots = 3_000;
/** How many slots are tried in order, beside the wanted ones. */
const triedSlots = 2_000;

const orders = {
  soonestFirst: 'delivery_time, id',
  latestFirst: 'delivery_time desc, id desc',
} as const;
export type OrderName = keyof typeof orders;

/** The filters that choose the statement; all others are ranges of one index. */
export type FilterName = 'none' | 'product' | 'group' | 'productAndGroup';

/** The parameters of `pageOf`. */
export interface PageParams {
  /** The lists to merge: that of active slots, that of the others, or both. */
  readonly areActive: readonly boolean[];
  readonly isFull: boolean | undefined;
  /** The places between which the slots are, both exclusive: times in microseconds since the epoch, and ids. */
  readonly aboveMicros: string;
  readonly aboveId: number;
  readonly belowMicros: string;
  readonly belowId: number;
  readonly productId: number | undefined;
  readonly groupId: number | undefined;
  readonly rows: number;
}

const isBetween = `
  (delivery_time, id) > (select ${timeOf('$aboveMicros')}, $aboveId::integer)
  and (delivery_time, id) < (select ${timeOf('$belowMicros')}, $belowId::integer)`;
const isOfProduct = `exists (
  select from product_slots where slot_id = slots.id and product_id = (select $productId::integer) offset 0
)`;
const isOfGroup = '(select $groupId::integer) = any(group_ids)';

/** What the indexes find. Slots with more groups than their index has are looked at one by one. */
const indexedProduct =
  'id = any(array(select slot_id from product_slots where product_id = (select $productId::integer)))';
const indexedGroup = `(group_ids[:100] @> array[(select $groupId::integer)] or cardinality(group_ids) > 100) and ${isOfGroup}`;
const productIsCommon = `(
  select count(*) > ${fewSlots}
  from (select from product_slots where product_id = (select $productId::integer) limit ${fewSlots} + 1) as counted
)`;
const isCommon = '(select is_common from judged)';

interface Filter {
  /** SQL of whether to try the first slots in order. */
  readonly judge: string;
  readonly matches: string;
  /** SQL of the conditions whose slots the indexes find. */
  readonly indexed: readonly string[];
}

const filters: Readonly<Record<Exclude<FilterName, 'none'>, Filter>> = {
  product: { judge: productIsCommon, matches: isOfProduct, indexed: [indexedProduct] },
  group: { judge: 'true', matches: isOfGroup, indexed: [indexedGroup] },
  productAndGroup: {
    judge: productIsCommon,
    matches: `${isOfGroup} and ${isOfProduct}`,
    indexed: [
      `not ${isCommon} and ${indexedProduct} and ${isOfGroup}`,
      `${isCommon} and ${indexedGroup} and ${isOfProduct}`,
    ],
  },
};

/**
 * Returns SQL of the first `limit` slots in order that match the filters of the index. Each list is a range of an index,
 * and they are merged, so that no more slots are read than are used.
 */
const inOrder = (order: string, limit: string, columns = 'id, delivery_time', condition = 'true') => {
  const lists = ['is_active', 'not is_active'].flatMap((state) => {
    const isAsked = `(select ${state === 'is_active'} = any($areActive::boolean[]))`;
    return [
      `${isAsked} and (select $isFull::boolean is null)`,
      `${isAsked} and is_capacity_full = (select $isFull)`,
    ].map(
      (asked) =>
        `(select ${columns} from slots
          where ${condition} and ${asked} and ${state} and ${isBetween} order by ${order} limit ${limit})`,
    );
  });
  return `${lists.join(' union all ')} order by ${order} limit ${limit}`;
};

/**
 * Returns SQL of common table expressions, the last of which is `page`: the ids of the first `rows` slots that match
 * all filters, each with its `place` in the page, from 1.
 */
export function pageOf(filterName: FilterName, orderName: OrderName): string {
  const order = orders[orderName];
  const page = (slots: string) =>
    `page as materialized (select id, row_number() over (order by ${order}) as place from (${slots}) as slots)`;
  const rows = '(select $rows::bigint)';
  if (filterName === 'none') return page(inOrder(order, rows));
  const { judge, matches, indexed } = filters[filterName];
  const tried = `(select $rows::bigint + ${triedSlots})`;
  const columns = filterName === 'product' ? undefined : 'id, delivery_time, group_ids';
  return `
    judged as materialized (select ${judge} as is_common),
    tried as materialized (${inOrder(order, tried, columns, isCommon)}),
    found as materialized (select id, delivery_time from tried as slots where ${matches} limit ${rows}),
    needs_index as materialized (
      select not is_common or (select count(*) from found) < ${rows} and (select count(*) from tried) = ${tried} as yes
      from judged
    ),
    ${page(
      [
        'select * from found where not (select yes from needs_index)',
        ...indexed.map(
          (condition) => `(
            select id, delivery_time
            from (select * from slots where (select yes from needs_index) and ${condition} offset 0) as slots
            where is_active = any((select $areActive)::boolean[])
              and is_capacity_full = coalesce((select $isFull), is_capacity_full) and ${isBetween}
            order by ${order} limit ${rows}
          )`,
        ),
      ].join(' union all '),
    )}`;
}
