import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'react-router';
import { CouponService, type PhoneCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { formatAmount } from '../../business/money.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Page } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { Issued } from './issued.tsx';

const places = { mobile: 'mobile' };

/** Issues the coupon with fixed terms to the owner of a mobile number. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const [mobile, setMobile] = useState(params.get('mobile') ?? '');
  const [issued, setIssued] = useState<PhoneCoupon>();
  const create = useWrite(CouponService.method.createCoupon, ({ coupon }) => ({
    text: `Coupon ${coupon?.couponCode} created`,
    undo: () => takeBack(coupon?.id ?? 0),
  }));
  const invalidate = useWrite(CouponService.method.delete, () => ({ text: 'The coupon is taken back' }));
  const takeBack = async (id: number): Promise<Undone> => {
    const undone = await invalidate.send({ id });
    if (undone.failure === undefined) setIssued(undefined);
    return undone;
  };
  const number = readMobile(mobile);
  const owners = useQuery(CouponService.method.getUsersMiniInfo, number === undefined ? skipToken : { search: number });
  const owner = owners.data?.users.find((user) => user.mobile === number);
  const send = async () => {
    const { answer } = await create.send({ mobile: number ?? mobile });
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
            validate={(text) =>
              text.trim() === '' || readMobile(text) ? undefined : 'Mobile number must be exactly 10 digits'
            }
            hint="Ten digits. +91 or 0 before them, spaces and dashes do not matter."
          />
          {owners.data !== undefined && (
            <p role="status">
              {owner === undefined
                ? `Nobody has the number ${number} yet. It becomes a new user.`
                : `For ${isolate(owner.name)}, ${number}.`}
            </p>
          )}
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

/** Reads an Indian mobile number as people write it; undefined for any other text. */
function readMobile(text: string): string | undefined {
  if (!/^\+?[\d\s().-]+$/.test(text.trim())) return undefined;
  const digits = text.replace(/\D/g, '').replace(/^(0|(00)?91)(?=\d{10}$)/, '');
  return digits.length === 10 ? digits : undefined;
}
