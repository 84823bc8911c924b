import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'react-router';
import { CouponService, type PhoneCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { formatAmount } from '../../business/money.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useWrite } from '../../rpc/write.ts';
import { Page } from '../../ui/page.tsx';
import { Issued } from './issued.tsx';

const places = { mobile: 'mobile' };

/** Issues the coupon with fixed terms to the owner of a mobile number. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const [mobile, setMobile] = useState(params.get('mobile') ?? '');
  const [issued, setIssued] = useState<PhoneCoupon>();
  const create = useWrite(CouponService.method.createCoupon, ({ coupon }) => ({
    text: `Coupon ${coupon?.couponCode} created`,
  }));
  const send = async () => {
    const { answer } = await create.send({ mobile });
    setIssued(answer?.coupon);
  };
  const startAnew = () => {
    setMobile('');
    setIssued(undefined);
  };
  return (
    <Page title="Coupon for a mobile number">
      {issued === undefined ? (
        <EditForm
          className="card"
          action="Create coupon"
          pending="Creating…"
          places={places}
          write={create}
          onSend={() => void send()}
        >
          <p>
            Whoever has the number gets a coupon over 20 % of an order from {formatAmount(1_000)} on, at most{' '}
            {formatAmount(500)}. It is good for 90 days and one use. A number may have several. One that is not known
            yet becomes a new user.
          </p>
          <TextField
            label="Mobile number"
            name="mobile"
            type="tel"
            autoComplete="off"
            autoFocus
            value={mobile}
            onChange={setMobile}
            hint="Exactly ten digits, without +91 or 0 before them; spaces and dashes do not matter."
          />
        </EditForm>
      ) : (
        <Issued
          what={`The coupon for ${issued.userMobile}`}
          code={issued.couponCode}
          href={`/coupons/${issued.id}`}
          another="Coupon for another number"
          onAnother={startAnew}
        >
          <p>
            {issued.discountPercent} % off, at most {formatAmount(issued.maxValue)}, for one order from{' '}
            {formatAmount(issued.minOrder)} on.
          </p>
        </Issued>
      )}
    </Page>
  );
}
