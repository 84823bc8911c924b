import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { type Coupon, CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Page } from '../../ui/page.tsx';
import { readId } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { describeTerms } from '../record/summary.ts';
import { Issued } from './issued.tsx';
import { OrderToRefund, useOrderToRefund } from './order-to-refund.tsx';

const text = words.coupon.refund;
const places = { orderId: 'orderId' };
const noWrite = { isPending: false, failure: undefined };

/** Issues the refund coupon of an order. It is shown before it is made, with the order and its customer. */
export function Component() {
  const [params] = useSearchParams();
  const [orderId, setOrderId] = useState(params.get('order') ?? '');
  const [shownId, setShownId] = useState<number>();
  const [issued, setIssued] = useState<Coupon>();
  const order = useOrderToRefund(shownId);
  const invalidate = useWrite(CouponService.method.delete, () => ({ text: text.invalidated }));
  const refund = useWrite(CouponService.method.generateCancellationCoupon, ({ coupon }) => ({
    text: text.created(coupon?.couponCode),
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
    <Page title={text.title}>
      {issued === undefined ? (
        <EditForm
          className="card"
          {...(isShown && order.code !== undefined
            ? { action: text.create, pending: words.coupon.form.creating }
            : { action: text.show, pending: text.show })}
          places={places}
          write={isShown ? { ...refund, isPending: refund.isPending || order.isPending } : noWrite}
          onSend={() => void send()}
        >
          <p>{text.explained}</p>
          <TextField
            label={text.number}
            name="orderId"
            inputMode="numeric"
            autoComplete="off"
            autoFocus
            isRequired
            validate={(typed) => (readId(typed) !== undefined ? undefined : text.enter)}
            value={orderId}
            onChange={setOrderId}
          />
          {isShown && <OrderToRefund {...order} />}
        </EditForm>
      ) : (
        <Issued
          what={text.issued}
          code={issued.couponCode}
          href={`/coupons/${issued.id}`}
          another={text.another}
          onAnother={startAnew}
        >
          <p>{describeTerms(issued)}.</p>
        </Issued>
      )}
    </Page>
  );
}
