import { type BoundStatement, bind, type Connection, type Queryable, statement } from '../../shared/db/database.ts';
import { requestForEach, storeRequestId } from './stores/requests.ts';

/** The products of a slot (spec 2.2). Neither the slot nor the products have to exist. */

const getSlotsProductIdsRows = statement<{ slotId: number; productIds: number[] }>(
  'getSlotsProductIds',
  `select slot_id as "slotId", json_agg(product_id order by product_id) as "productIds"
   from product_slots
   where slot_id = any($1)
   group by slot_id`,
);

/**
 * Spec 4.1, getSlotsProductIds.
 *
 * @param slotIds a set.
 * @returns the product ids of each requested slot, empty for a slot without products.
 */
export async function getSlotsProductIds(db: Queryable, slotIds: readonly number[]): Promise<Map<number, number[]>> {
  const productIds = new Map<number, number[]>(slotIds.map((id) => [id, []]));
  if (slotIds.length === 0) return productIds;
  for (const row of await db.query(getSlotsProductIdsRows, [slotIds])) productIds.set(row.slotId, row.productIds);
  return productIds;
}

// Two concurrent replacements of one slot's products must not mix. The lock is on the slot's id,
// not on its row, because the slot does not have to exist; it comes before the statement, which
// would not see what it waited for.
const lockSlotProducts = statement<never>(
  'lockSlotProducts',
  `select pg_advisory_xact_lock(hashtext('product_slots'), $1)`,
);

/** What comes before a statement that replaces a slot's products, in the same batch. */
export function slotProductsLock(slotId: number): BoundStatement<unknown> {
  return bind(lockSlotProducts, [slotId]);
}

// Inserted in one order everywhere, so that none wait for each other.
const updateSlotProductsRow = statement<{ added: number; removed: number; storeRequestId: string }>(
  'updateSlotProducts',
  `with listed as (select unnest($2::integer[]) as product_id),
   removed as (
     delete from product_slots
     where slot_id = $1 and product_id not in (select product_id from listed)
     returning product_id
   ),
   added as (
     insert into product_slots (slot_id, product_id)
     select $1, product_id from listed
     order by product_id
     on conflict do nothing
     returning product_id
   ),
   ${requestForEach('(values (1)) as call')}
   select (select count(*) from added)::integer as added, (select count(*) from removed)::integer as removed,
     ${storeRequestId}`,
);

/**
 * Spec 4.1, updateSlotProducts: makes a slot's product set equal to the given one. Existence is not
 * checked; concurrent calls take their turns.
 *
 * @param input with the product ids as a set.
 * @returns how many distinct products were added and removed, and the refresh request's id.
 */
export async function updateSlotProducts(
  db: Connection,
  input: { slotId: number; productIds: readonly number[] },
): Promise<{ added: number; removed: number; storeRequestId: string }> {
  const [replaced] = await db.batch(
    [slotProductsLock(input.slotId)],
    bind(updateSlotProductsRow, [input.slotId, input.productIds]),
  );
  if (replaced === undefined) throw new Error('the statement has one row');
  return replaced;
}
