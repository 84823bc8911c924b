import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { CouponService, type PhoneCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { shortAmount } from '../../business/money.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { Page } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { Issued, useMade } from './issued.tsx';

const { phone: text, form, created } = words.coupon;
const places = { mobile: 'mobile' };

/** Issues the coupon with fixed terms to the owner of a mobile number. */
export function Component() {
  const [params] = useSearchParams();
  const [mobile, setMobile] = useState(params.get('mobile') ?? '');
  const { made, write, make, forget } = useMade(
    CouponService.method.createCoupon,
    ({ coupon }, takeBack) => ({ text: created(coupon?.couponCode), undo: () => takeBack(coupon?.id) }),
    text.takenBack,
  );
  const issued = made?.coupon;
  const number = readMobile(mobile);
  const owners = useQuery(CouponService.method.getUsersMiniInfo, number === undefined ? skipToken : { search: number });
  const owner = owners.data?.users.find((user) => user.mobile === number);
  const startAnew = () => {
    setMobile('');
    forget();
  };
  return (
    <Page title={text.title}>
      {issued === undefined ? (
        <EditForm
          className="card"
          action={form.create}
          pending={form.creating}
          places={places}
          write={write}
          onSend={() => make({ mobile: number ?? mobile })}
        >
          <p>{text.what(shortAmount(1_000), shortAmount(500))}</p>
          <TextField
            label={words.fields.mobile}
            name="mobile"
            type="tel"
            autoComplete="off"
            autoFocus
            value={mobile}
            onChange={setMobile}
            validate={(typed) => (typed.trim() === '' || readMobile(typed) ? undefined : text.tenDigits)}
            hint={text.hint}
          />
          {owners.data !== undefined && (
            <p role="status">
              {owner === undefined ? text.nobody(number ?? '') : text.owner(isolate(owner.name), number ?? '')}
            </p>
          )}
        </EditForm>
      ) : (
        <Issued
          what={text.issued(issued.userMobile)}
          coupon={{ ...issued, ...decimalsOf(issued) }}
          another={text.another}
          onAnother={startAnew}
        />
      )}
    </Page>
  );
}

const decimalsOf = ({ discountPercent, minOrder, maxValue }: PhoneCoupon) => ({
  ...{ discountPercent: String(discountPercent), minOrder: String(minOrder), maxValue: String(maxValue) },
});

/** Reads an Indian mobile number as people write it; undefined for any other text. */
function readMobile(text: string): string | undefined {
  if (!/^\+?[\d\s().-]+$/.test(text.trim())) return undefined;
  const digits = text.replace(/\D/g, '').replace(/^(0|(00)?91)(?=\d{10}$)/, '');
  return digits.length === 10 ? digits : undefined;
}
