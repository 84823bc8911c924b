import { type Actor, actorOf, auditEntry } from '../../../shared/audit/entry.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BatchRow, batchColumns, toBatch } from '../batches/batch.ts';
import { couponErrors } from '../errors.ts';
import type { BatchParts } from '../parts.ts';

/** Design 13, invalidateBatch: invalidates the coupons of a batch that are still valid. Throws NOT_FOUND. */
export function invalidateBatch({ database }: BatchParts): Handler<typeof CouponBatchService.method.invalidateBatch> {
  return async ({ id }, call) => {
    const [found] = await database.for(call).query(invalidateCoupons({ ...actorOf(call), id }));
    if (found === undefined) throw fail(couponErrors.batchNotFound);
    const { ended, ...batch } = found;
    return { batch: toBatch(batch), invalidated: ended };
  };
}

// Locking in the order of ids prevents deadlocks between two calls for the same batch. A trigger counts the coupons
// when the statement ends.
const invalidateCoupons = statement<BatchRow & { ended: number }, { id: number } & Actor>(
  'invalidateBatch',
  `with seen as materialized (
     select id from coupons
     where batch_id = $id and not is_invalidated and exists (select from coupon_batches where id = $id)
     order by id for no key update
   ),
   written as (
     update coupons set is_invalidated = true, etag = default from seen where coupons.id = seen.id
     returning coupons.id
   ),
   ended as materialized (select count(*)::integer as count from written),
   batch as materialized (
     select coupon_batches.*, ended.count as ended
     from ended, coupon_batches where coupon_batches.id = $id for no key update of coupon_batches
   ),
   ${auditEntry(
     'coupon_batch',
     `select id, json_build_object('invalidated', invalidated) as before,
        json_build_object('invalidated', invalidated + ended) as after
      from batch where ended > 0`,
   )}
   select ${batchColumns}, ended
   from (
     select id, name, count, invalidated + ended as invalidated, created_by, created_at, ended from batch
   ) as coupon_batches`,
);
