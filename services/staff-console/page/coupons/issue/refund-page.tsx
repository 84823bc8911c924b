import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { useSearchParams } from 'react-router';
import { type CatalogOrder, CatalogService } from '#gen/catalog/v1/catalog_service_pb';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { formatAmount } from '../../business/money.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useOrderIds } from '../../lookup/names.ts';
import { readOrderKey } from '../../redemptions/order.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { Button } from '../../ui/button.tsx';
import { Facts, Loading, Page, Problem } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { useValidity } from '../record/use-validity.ts';
import { Issued, useMade } from './issued.tsx';

const { refund: text, form, restore: restoreText } = words.coupon;
const places = { orderId: 'orderId' };
const noWrite = { isPending: false, failure: undefined };

/** Issues the refund coupon of an order. It is shown before it is made, with the order and its customer. */
export function Component() {
  const [params] = useSearchParams();
  const [typed, setTyped] = useState(params.get('order') ?? '');
  const key = readOrderKey(typed);
  const [shown, setShown] = useState<string>();
  const order = useOrderToRefund(shown);
  const { made, write, make, forget } = useMade(
    CouponService.method.generateCancellationCoupon,
    ({ coupon }, takeBack) => ({ text: text.created(coupon?.couponCode), undo: () => takeBack(coupon?.id) }),
    text.invalidated,
  );
  const isShown = key !== undefined && key === shown;
  const send = () => {
    if (!isShown) setShown(key);
    else if (order.code !== undefined) make({ orderId: order.order?.id });
  };
  const startAnew = () => {
    setTyped('');
    setShown(undefined);
    forget();
  };
  return (
    <Page title={text.title}>
      {made?.coupon === undefined ? (
        <EditForm
          className="card"
          {...(isShown && order.code !== undefined
            ? { action: text.create, pending: form.creating }
            : { action: text.show, pending: text.show })}
          places={places}
          write={isShown ? { ...write, isPending: write.isPending || order.isPending } : noWrite}
          onSend={send}
        >
          <p>{text.explained}</p>
          <TextField
            label={words.orders.orderNumber}
            name="orderId"
            autoComplete="off"
            autoFocus
            isRequired
            validate={() => (key === undefined ? text.enter : undefined)}
            value={typed}
            onChange={setTyped}
          />
          {isShown && <OrderToRefund {...order} />}
        </EditForm>
      ) : (
        <Issued what={text.issued} coupon={made.coupon} another={text.another} onAnother={startAnew} />
      )}
    </Page>
  );
}

/** Reads an order, the code of the coupon that can be made if one can, and the coupon that has it already (spec 4.2). */
function useOrderToRefund(key: string | undefined) {
  const ids = useOrderIds(key === undefined ? [] : [key]);
  const id = ids?.get(key ?? '');
  const orders = useQuery(CatalogService.method.getOrders, id === undefined ? skipToken : { orderIds: [id] });
  const order = orders.data?.orders[0];
  const code = order && refundCode(order);
  const coupons = useQuery(CouponService.method.getAll, code === undefined ? skipToken : { search: code });
  const taken = coupons.data?.coupons.find(({ couponCode }) => couponCode === code);
  const isFree = coupons.data !== undefined && taken === undefined && order?.refundCouponId === undefined;
  return {
    isPending: ids === undefined || (id !== undefined && orders.isPending) || (code !== undefined && coupons.isPending),
    error: orders.error ?? coupons.error,
    order,
    code: isFree ? code : undefined,
    taken,
  };
}

/** Shows an order and its customer, and the coupon that is about to be made, or why none can be. */
function OrderToRefund({ isPending, error, order, code, taken }: ReturnType<typeof useOrderToRefund>) {
  if (isPending) return <Loading what={text.what} />;
  if (error !== null) return <Problem failure={describeFailure(error)} />;
  if (order === undefined) return <Problem failure={text.orderNotFound} />;
  const { user, totalAmount, refundCouponId } = order;
  const owner = taken?.applicableUsers[0]?.user;
  return (
    <>
      <Facts
        rows={[
          [
            words.fields.userId,
            user && <Link href={`/users/${user.id}`}>{`${isolate(user.name)}, ${user.mobile}`}</Link>,
          ],
          [text.total, totalAmount && formatAmount(totalAmount)],
          [words.coupon.newOne, code && <code>{code}</code>],
        ]}
      />
      {user === undefined && <p>{text.noCustomer}</p>}
      {user !== undefined && totalAmount === undefined && <p>{text.noTotal}</p>}
      {refundCouponId !== undefined ? (
        <p>
          {text.has} <Link href={`/coupons/${refundCouponId}`}>{order.refundCouponCode}</Link>.{' '}
          <TakenBack id={refundCouponId} code={order.refundCouponCode} />
        </p>
      ) : (
        taken !== undefined && (
          <p>
            {text.taken} <Link href={`/coupons/${taken.id}`}>{taken.couponCode}</Link>
            {owner && text.takenBy(isolate(owner.name || words.lookup.unnamed))}
            {text.noOwn}
          </p>
        )
      )}
    </>
  );
}

/** Says that a refund coupon was invalidated, and offers to make it active again: an order has only one. */
function TakenBack({ id, code = '' }: { readonly id: number; readonly code?: string | undefined }) {
  const coupon = useQuery(CouponService.method.getById, { id }).data?.coupon;
  const { restore, isPending } = useValidity(id, code);
  if (!coupon?.isInvalidated) return null;
  return (
    <>
      {text.wasInvalidated}{' '}
      <Button isPending={isPending} onPress={() => void restore()}>
        {isPending ? words.saving : restoreText}
      </Button>
    </>
  );
}

/** Returns the code that the refund coupon of an order gets; undefined if it can't have one. */
function refundCode({ id, user, totalAmount }: CatalogOrder): string | undefined {
  if (user === undefined || totalAmount === undefined) return undefined;
  const name = user.name === words.lookup.unknown ? user.mobile : user.name;
  const letters = [...new Intl.Segmenter().segment(name || 'USR')].slice(0, 3).map(({ segment }) => segment);
  return `${letters.join('').toUpperCase().normalize('NFC')}${id}`;
}
