import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { type CatalogOrder, CatalogService } from '../../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService, type ListedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { formatAmount } from '../../business/money.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { Facts, Loading, Problem } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { ValidityButton } from '../record/validity-button.tsx';

/** An order whose refund staff have asked for. */
interface RefundedOrder {
  readonly isPending: boolean;
  readonly error: unknown;
  /** Undefined if no order has the number, or none was read yet. */
  readonly order: CatalogOrder | undefined;
  /** The code of the coupon that can be made; undefined if none can. */
  readonly code: string | undefined;
  /** The coupon that has this code already. */
  readonly taken: ListedCoupon | undefined;
}

/** Reads an order, and whether its refund coupon can be made (spec 4.2). */
export function useOrderToRefund(id: number | undefined): RefundedOrder {
  const orders = useQuery(CatalogService.method.getOrders, id === undefined ? skipToken : { orderIds: [id] });
  const order = orders.data?.orders[0];
  const code = order && refundCode(order);
  const coupons = useQuery(CouponService.method.getAll, code === undefined ? skipToken : { search: code });
  const taken = coupons.data?.coupons.find(({ couponCode }) => couponCode === code);
  const isFree = coupons.data !== undefined && taken === undefined && order?.refundCouponId === undefined;
  return {
    isPending: id !== undefined && (orders.isPending || (code !== undefined && coupons.isPending)),
    error: orders.error ?? coupons.error,
    order,
    code: isFree ? code : undefined,
    taken,
  };
}

/** Shows an order and its customer, and the coupon that is about to be made, or why none can be. */
export function OrderToRefund({ isPending, error, order, code, taken }: RefundedOrder): ReactNode {
  if (isPending) return <Loading what="the order" />;
  if (error !== null) return <Problem failure={describeFailure(error)} />;
  if (order === undefined) {
    return <Problem failure={{ title: 'Order not found', advice: 'No order has this number. Correct it.' }} />;
  }
  const { user, totalAmount, refundCouponId } = order;
  return (
    <>
      <Facts
        rows={[
          ['Customer', user && <Link href={`/users/${user.id}`}>{`${isolate(user.name)}, ${user.mobile}`}</Link>],
          ['The order came to', totalAmount && formatAmount(totalAmount)],
          ['The coupon will be', code && <span className="coupon-code">{code}</span>],
        ]}
      />
      {user === undefined && <p>This order has no customer who could get a coupon.</p>}
      {user !== undefined && totalAmount === undefined && <p>What this order came to is not known.</p>}
      {refundCouponId !== undefined && (
        <p>
          This order has its refund coupon: <Link href={`/coupons/${refundCouponId}`}>{order.refundCouponCode}</Link>.{' '}
          <TakenBack id={refundCouponId} />
        </p>
      )}
      {refundCouponId === undefined && taken !== undefined && (
        <p>
          Another coupon has the code <Link href={`/coupons/${taken.id}`}>{taken.couponCode}</Link>
          {taken.applicableUsers[0]?.user !== undefined &&
            `, that of ${isolate(taken.applicableUsers[0].user.name || 'Unknown')}`}
          . This order can’t have its own.
        </p>
      )}
    </>
  );
}

/** Says that a refund coupon was invalidated, and offers to make it valid again: an order has only one. */
function TakenBack({ id }: { readonly id: number }): ReactNode {
  const coupon = useQuery(CouponService.method.getById, { id }).data?.coupon;
  if (!coupon?.isInvalidated) return null;
  return (
    <>
      It was invalidated. <ValidityButton coupon={coupon} />
    </>
  );
}

/** Returns the code that the refund coupon of an order gets; undefined if it can't have one. */
function refundCode({ id, user, totalAmount }: CatalogOrder): string | undefined {
  if (user === undefined || totalAmount === undefined) return undefined;
  const name = user.name === 'Unknown' ? user.mobile : user.name;
  const letters = [...new Intl.Segmenter().segment(name || 'USR')].slice(0, 3).map(({ segment }) => segment);
  return `${letters.join('').toUpperCase().normalize('NFC')}${id}`;
}
