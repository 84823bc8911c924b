import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'react-router';
import { type Coupon, CouponService } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { formatAmount } from '../../business/money.ts';
import { Time } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Page } from '../../ui/page.tsx';
import { readId } from '../../ui/text.ts';
import { Issued } from './issued.tsx';
import { OrderToRefund, useOrderToRefund } from './order-to-refund.tsx';

const places = { orderId: 'orderId' };
const noWrite = { isPending: false, failure: undefined };

/** Issues the refund coupon of an order. It is shown before it is made, with the order and its customer. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const [orderId, setOrderId] = useState(params.get('order') ?? '');
  const [shownId, setShownId] = useState<number>();
  const [issued, setIssued] = useState<Coupon>();
  const order = useOrderToRefund(shownId);
  const invalidate = useWrite(CouponService.method.delete, () => ({ text: 'Refund coupon invalidated' }));
  const refund = useWrite(CouponService.method.generateCancellationCoupon, ({ coupon }) => ({
    text: `Refund coupon ${coupon?.couponCode} created`,
    undo: () => takeBack(coupon?.id ?? 0),
  }));
  const takeBack = async (id: number): Promise<Undone> => {
    const undone = await invalidate.send({ id });
    if (undone.failure === undefined) setIssued(undefined);
    return undone;
  };
  const isShown = Number(orderId) === shownId;
  const send = async () => {
    if (!isShown) return setShownId(Number(orderId));
    if (order.code === undefined) return undefined;
    const { answer } = await refund.send({ orderId: Number(orderId) });
    return setIssued(answer?.coupon);
  };
  const startAnew = () => {
    setOrderId('');
    setShownId(undefined);
    setIssued(undefined);
  };
  return (
    <Page title="Refund for an order">
      {issued === undefined ? (
        <EditForm
          className="card"
          {...(isShown && order.code !== undefined
            ? { action: 'Create refund coupon', pending: 'Creating…' }
            : { action: 'Show the order', pending: 'Show the order' })}
          places={places}
          write={isShown ? { ...refund, isPending: refund.isPending || order.isPending } : noWrite}
          onSend={() => void send()}
        >
          <p>
            The customer of the order gets a coupon over what the order came to. It is good for 30 days and one use.
          </p>
          <TextField
            label="Order number"
            name="orderId"
            inputMode="numeric"
            autoComplete="off"
            autoFocus
            isRequired
            validate={(text) =>
              readId(text) !== undefined ? undefined : 'Enter the number of the order, such as 1042.'
            }
            value={orderId}
            onChange={setOrderId}
          />
          {isShown && <OrderToRefund {...order} />}
        </EditForm>
      ) : (
        <Issued
          what="The refund coupon"
          code={issued.couponCode}
          href={`/coupons/${issued.id}`}
          another="Refund for another order"
          onAnother={startAnew}
        >
          <p>
            {formatAmount(issued.flatDiscount ?? 0)} off, for one order from {formatAmount(issued.minOrder ?? 0)} on,
            until <Time at={issued.validTill} />.
          </p>
        </Issued>
      )}
    </Page>
  );
}
