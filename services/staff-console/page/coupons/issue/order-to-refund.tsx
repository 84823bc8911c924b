import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { Link } from 'react-aria-components/Link';
import { type CatalogOrder, CatalogService } from '#gen/catalog/v1/catalog_service_pb';
import { CouponService, type ListedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { formatAmount } from '../../business/money.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { Facts, Loading, Problem } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { RestoreButton } from '../record/restore-button.tsx';

const text = words.coupon.refund;

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
export function OrderToRefund({ isPending, error, order, code, taken }: RefundedOrder) {
  if (isPending) return <Loading what={text.what} />;
  if (error !== null) return <Problem failure={describeFailure(error)} />;
  if (order === undefined) {
    return <Problem failure={text.orderNotFound} />;
  }
  const { user, totalAmount, refundCouponId } = order;
  return (
    <>
      <Facts
        rows={[
          [text.customer, user && <Link href={`/users/${user.id}`}>{`${isolate(user.name)}, ${user.mobile}`}</Link>],
          [text.total, totalAmount && formatAmount(totalAmount)],
          [text.code, code && <code>{code}</code>],
        ]}
      />
      {user === undefined && <p>{text.noCustomer}</p>}
      {user !== undefined && totalAmount === undefined && <p>{text.noTotal}</p>}
      {refundCouponId !== undefined && (
        <p>
          {text.has} <Link href={`/coupons/${refundCouponId}`}>{order.refundCouponCode}</Link>.{' '}
          <TakenBack id={refundCouponId} />
        </p>
      )}
      {refundCouponId === undefined && taken !== undefined && (
        <p>
          {text.taken} <Link href={`/coupons/${taken.id}`}>{taken.couponCode}</Link>
          {taken.applicableUsers[0]?.user !== undefined &&
            text.takenBy(isolate(taken.applicableUsers[0].user.name || words.lookup.unnamed))}
          {text.noOwn}
        </p>
      )}
    </>
  );
}

/** Says that a refund coupon was invalidated, and offers to make it active again: an order has only one. */
function TakenBack({ id }: { readonly id: number }) {
  const coupon = useQuery(CouponService.method.getById, { id }).data?.coupon;
  if (!coupon?.isInvalidated) return null;
  return (
    <>
      {text.wasInvalidated} <RestoreButton {...coupon} />
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
