import { type RedemptionService, RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { listHolds } from '../../../shared/holds/list.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { RedemptionParts } from '../parts.ts';
import { type RedemptionRow, redemptionKind, toRedemption } from '../redemptions/redemption.ts';

/** Design 13, listRedemptions: redemptions, newest first. Throws INVALID_ARGUMENT for a page token of other filters. */
export function listRedemptions({
  database,
}: Pick<RedemptionParts, 'database'>): Handler<typeof RedemptionService.method.listRedemptions> {
  const list = listHolds<RedemptionRow>('listRedemptions', redemptionKind, {
    couponId: 'coupon_id = $couponId',
    userId: 'user_id = $userId',
    orderKey: 'order_key = $orderKey',
  });
  return async ({ couponId, userId, orderKey, states, ...page }, call) => {
    const asked = states.map((state) => RedemptionState[state]);
    const { rows, ...next } = await list(database.for(call), { couponId, userId, orderKey }, asked, page);
    return { redemptions: mapped(rows, toRedemption), ...next };
  };
}
