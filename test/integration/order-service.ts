import type { Client } from '@connectrpc/connect';
import { Reason, reasonOf } from '../../services/client/package/index.ts';
import type { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';

/** An order, as the order service keeps it in its own database. */
export interface Order {
  readonly key: string;
  readonly userId: number;
  readonly amount: number;
  readonly code: string;
  readonly state: 'new' | 'held' | 'paid' | 'taken' | 'canceling' | 'canceled';
  /** What the coupon saves. Without a redemption, nothing. */
  readonly discount: number;
  readonly redemptionId?: number | undefined;
}

/** The order service's own parts. To charge an order again changes nothing, nor to refund one that is not charged. */
export interface Shop {
  save(order: Order): Promise<void>;
  charge(order: Order): Promise<'paid' | 'declined'>;
  refund(order: Order): Promise<void>;
}

/** Takes an order. When it fails at any point, call it again with the order as it was saved last. */
export async function takeOrder(
  saved: Order,
  shop: Shop,
  redemptions: Client<typeof RedemptionService>,
): Promise<Order> {
  let order = saved;
  const save = async (changed: Partial<Order>) => {
    order = { ...order, ...changed };
    await shop.save(order);
  };
  if (order.state === 'new') {
    const { key: orderKey, userId, amount: orderAmount, code } = order;
    // A refusal, too, tells what the order holds: an attempt before a crash may have left it.
    const { redemption } = await redemptions.redeem({ code, userId, orderKey, orderAmount });
    await save({ state: 'held', discount: Number(redemption?.discountAmount ?? 0), redemptionId: redemption?.id });
  }
  if (order.state === 'held') await save({ state: (await shop.charge(order)) === 'paid' ? 'paid' : 'canceling' });
  const { redemptionId } = order;
  if (order.state === 'paid') {
    const reason =
      redemptionId === undefined ? '' : await redemptions.confirm({ redemptionId }).then(() => '', reasonOf);
    // Paid too late, when another order had the use already, or staff had released it.
    const isLost = reason === Reason.HOLD_EXPIRED || reason === Reason.REDEMPTION_RELEASED;
    if (reason !== '' && !isLost) throw new Error(`the coupon is not confirmed: ${reason}`);
    await save({ state: isLost ? 'canceling' : 'taken' });
  }
  if (order.state === 'canceling') {
    if (redemptionId !== undefined) await redemptions.release({ redemptionId, reason: 'order canceled' });
    await shop.refund(order);
    await save({ state: 'canceled' });
  }
  return order;
}
