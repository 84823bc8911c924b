import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useSearchParams } from 'react-router';
import { CouponService, type PhoneCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { formatAmount } from '../../business/money.ts';
import { TextField } from '../../forms/text-field.tsx';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Page, Problem } from '../../ui/page.tsx';
import { useProblems } from '../record/problems.ts';
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
  const { atFields, elsewhere } = useProblems(create.failure, places);
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
        <Form
          className="card"
          validationErrors={atFields}
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
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
          {elsewhere !== undefined && <Problem failure={elsewhere} />}
          <div className="actions">
            <Button type="submit" emphasis="primary" isPending={create.isPending}>
              {create.isPending ? 'Creating…' : 'Create coupon'}
            </Button>
          </div>
        </Form>
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
