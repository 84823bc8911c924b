import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { keyedStatement, sharedRows } from '../../../shared/reads/shared-read.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotParts } from '../parts.ts';
import { maxProductIds, smallProductIds } from '../slots/slot-list.ts';

/** A call for more slots gets a statement of its own. */
const maxSharedSlots = 50;

/**
 * Spec 4.1, getSlotsProductIds: returns an entry for every requested slot, empty if it has no products. Throws
 * RESOURCE_EXHAUSTED for more than a million product ids.
 */
export function getSlotsProductIds({ database }: SlotParts): Handler<typeof SlotService.method.getSlotsProductIds> {
  const small = sharedRows(database, selectSmall, ({ slotId }) => slotId);
  return async ({ slotIds }, call) => {
    if (slotIds.length <= maxSharedSlots) {
      const rows = slotIds.length === 0 ? new Map<number, SmallRow>() : await small.readAll(slotIds, call);
      if (!slotIds.some((id) => rows.get(id)?.productIds === null)) {
        return toAnswer(slotIds, (id) => rows.get(id)?.productIds);
      }
      await call.takePermit();
    }
    const rows = await readAlone(slotIds, call);
    return toAnswer(slotIds, (id) => rows.get(id));
  };

  async function readAlone(slotIds: readonly number[], call: CallContext) {
    const rows = await database.for(call).query(selectIds({ slotIds }));
    const count = rows.reduce((sum, row) => sum + row.productIds.length, 0);
    if (count > maxProductIds) throw fail(commonErrors.answerTooLarge);
    return new Map(rows.map((row) => [row.slotId, row.productIds]));
  }
}

function toAnswer(slotIds: readonly number[], idsOf: (slotId: number) => readonly number[] | null | undefined) {
  return { productIds: new Map(slotIds.map((id) => [id, { ids: idsOf(id) ?? [] }])) };
}

interface ProductIdsRow {
  slotId: number;
  productIds: number[];
}

interface SmallRow {
  slotId: number;
  /** Null if there are more than `smallProductIds`. */
  productIds: number[] | null;
}

// Without "offset 0", PostgreSQL would read the ids twice.
const selectSmall = keyedStatement<number, SmallRow>(
  'getSlotsProductIds',
  'integer',
  `select $key as "slotId",
     case when cardinality(ids) <= ${smallProductIds} then array_to_json(ids) end as "productIds"
   from (
     select array(
       select product_id from product_slots
       where slot_id = $key order by product_id limit ${smallProductIds} + 1
     ) as ids
     offset 0
   ) as slot`,
);

// Reads at most one id more than an answer may have, in the order of the index.
const selectIds = statement<ProductIdsRow, { slotIds: readonly number[] }>(
  'getSlotsProductIdsAlone',
  `select slot_id as "slotId", json_agg(product_id order by product_id) as "productIds"
   from (
     select slot_id, product_id from product_slots where slot_id = any($slotIds)
     order by slot_id, product_id limit ${maxProductIds} + 1
   ) as associations
   group by slot_id`,
);
