import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type IdPage, readIdPage, toIdPage } from '../../../shared/rpc/paging.ts';
import { selectBatch, toBatch } from '../batches/batch.ts';
import { type CouponRow, couponColumnsWith, toCoupon } from '../coupons/coupon.ts';
import { couponErrors } from '../errors.ts';
import type { BatchParts } from '../parts.ts';

/** A page ends early when the product ids of its coupons take more, and always has one coupon. */
const maxPageBytes = 1024 * 1024;

/**
 * Design 13, getBatch: a batch, a page of its coupons by id and, if asked for, what was used of all of them. Throws NOT_FOUND, and INVALID_ARGUMENT for a page
 * token of another batch.
 */
export function getBatch({ database }: BatchParts): Handler<typeof CouponBatchService.method.getBatch> {
  return async ({ id, withUsage, ...request }, call) => {
    const page = readIdPage(['batch', String(id)], request);
    const db = database.for(call);
    const [[batch], found, [usage]] = await Promise.all([
      db.query(selectBatch({ id })),
      db.query(selectCoupons({ ...page, batchId: id })),
      withUsage ? db.query(sumUsage({ id })) : [],
    ]);
    if (batch === undefined) throw fail(couponErrors.batchNotFound);
    const shown = found.findIndex(({ isBeyond }) => isBeyond);
    const { rows, nextPageToken } = toIdPage(shown < 0 ? page : { ...page, rows: shown + 1 }, found);
    return { batch: toBatch(batch), coupons: mapped(rows, toCoupon), nextPageToken, ...usage };
  };
}

const sumUsage = statement<{ uses: number; discountGiven: string }, { id: number }>(
  'sumUsage',
  `select coalesce(sum(used), 0)::integer as uses, trim_scale(coalesce(sum(discount_used), 0)) as "discountGiven"
   from coupons join coupon_usage on coupon_id = coupons.id where batch_id = $id`,
);

// The size of an array is known without reading it.
const selectCoupons = statement<CouponRow & { isBeyond: boolean }, IdPage & { batchId: number }>(
  'batchCoupons',
  `select ${couponColumnsWith('case when not is_beyond then to_json(coupons.product_ids) end')}, is_beyond as "isBeyond"
   from (
     select *, row_number() over (order by id) > 1
       and sum(coalesce(pg_column_size(product_ids), 0)) over (order by id) > ${maxPageBytes} as is_beyond
     from (
       select * from coupons where batch_id = $batchId and id > coalesce($after::bigint, 0) order by id limit $rows::integer
     ) as page
   ) as coupons
   order by id`,
);
