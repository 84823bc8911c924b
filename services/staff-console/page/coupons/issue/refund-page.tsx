import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { Link } from 'react-aria-components/Link';
import { type Coupon, CouponService } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { TextField } from '../../forms/text-field.tsx';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Page, Problem } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useProblems } from '../record/problems.ts';
import { Issued } from './issued.tsx';

// The code is derived from the order's number, so a taken code means that the order already has its refund coupon.
const places = { orderId: 'orderId', couponCode: 'orderId' };

/** Issues the refund coupon of an order. */
export function Component(): ReactNode {
  const [orderId, setOrderId] = useState('');
  const [issued, setIssued] = useState<Coupon>();
  const refund = useWrite(CouponService.method.generateCancellationCoupon, ({ coupon }) => ({
    text: `Refund coupon ${coupon?.couponCode} created`,
  }));
  const { atFields, elsewhere } = useProblems(refund.failure, places);
  const send = async () => {
    const { answer } = await refund.send({ orderId: Number(orderId) });
    setIssued(answer?.coupon);
  };
  const startAnew = () => {
    setOrderId('');
    setIssued(undefined);
  };
  return (
    <Page title="Refund for an order">
      {issued === undefined ? (
        <Form
          className="card"
          validationErrors={atFields}
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <p>
            The customer of the order gets a coupon over what the order came to. It is good for 30 days and one use.
          </p>
          <TextField
            label="Order number"
            name="orderId"
            inputMode="numeric"
            isRequired
            validate={(text) => (/^\d{1,9}$/.test(text) ? undefined : 'Enter the number of the order, such as 1042.')}
            value={orderId}
            onChange={setOrderId}
          />
          {refund.failure?.reason === 'COUPON_CODE_TAKEN' && (
            <p>
              This order seems to have its refund coupon.{' '}
              <Link href={`/coupons?search=${orderId}`}>Look for it among the coupons</Link>
            </p>
          )}
          {elsewhere !== undefined && <Problem failure={elsewhere} />}
          <div className="actions">
            <Button type="submit" emphasis="primary" isPending={refund.isPending}>
              {refund.isPending ? 'Creating…' : 'Create refund coupon'}
            </Button>
          </div>
        </Form>
      ) : (
        <Issued
          what="The refund coupon"
          code={issued.couponCode}
          href={`/coupons/${issued.id}`}
          another="Refund for another order"
          onAnother={startAnew}
        >
          <p>
            {issued.flatDiscount} off, until <Time at={issued.validTill} />.
          </p>
        </Issued>
      )}
    </Page>
  );
}
