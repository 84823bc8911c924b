import { type Actor, actorOf, auditEntry, changeOf, keptRecord } from '../../../shared/audit/entry.ts';
import { etagMatches, type Guard } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, delete: invalidates the coupon and keeps its record. Throws NOT_FOUND, and ABORTED for an outdated etag.
 */
export function deleteCoupon({ database }: CouponParts): Handler<typeof CouponService.method.delete> {
  return async ({ id, etag }, call) => {
    const [coupon] = await database.for(call).query(invalidateCoupon({ ...actorOf(call), id, etag }));
    if (coupon === undefined) throw fail(couponErrors.couponNotFound);
    if (coupon.id === null) throw fail(commonErrors.etagMismatch);
    return { message: 'Coupon invalidated successfully' };
  };
}

const invalidateCoupon = statement<{ id: number | null }, { id: number } & Actor & Guard>(
  'delete',
  `with seen as (select id, is_invalidated, etag from coupons where id = $id for no key update),
   ${changeOf(
     `select id, json_build_object('isInvalidated', is_invalidated) as before, json_build_object('isInvalidated', true) as after
      from seen where ${etagMatches}`,
   )},
   written as (
     update coupons set is_invalidated = true, etag = default
     from change where coupons.id = change.id and differs
     returning coupons.id, coupons.is_invalidated, coupons.etag
   ),
   ${auditEntry('coupon')},
   ${keptRecord}
   select kept.id from seen left join kept on true`,
);
