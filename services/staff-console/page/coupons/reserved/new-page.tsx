import { useState } from 'react';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { CouponForm } from '../form/coupon-form.tsx';
import { Issued, useMade } from '../issue/issued.tsx';
import { blankDraft, changesOf } from '../record/draft.ts';
import { describeDraft } from '../record/words.ts';

const text = words.coupons.reserved;

/** Creates a reserved coupon. */
export function Component() {
  const [draft, setDraft] = useState(blankDraft);
  const { made, write, make, forget } = useMade(CouponService.method.createReservedCoupon, ({ reservedCoupon }) => ({
    text: text.created(reservedCoupon?.secretCode),
  }));
  const created = made?.reservedCoupon;
  const startAnew = () => {
    setDraft(blankDraft);
    forget();
  };
  return (
    <Page title={text.newOne} actions={<ButtonLink href="/coupons/reserved">{text.all}</ButtonLink>}>
      {created === undefined ? (
        <CouponForm
          kind="reserved"
          draft={draft}
          change={(part) => setDraft({ ...draft, ...part })}
          start={blankDraft}
          label={text.one}
          action={text.create}
          summary={describeDraft(draft, text.whoever)}
          write={write}
          onSend={() => make({ coupon: changesOf(blankDraft, draft) })}
          back="/coupons/reserved"
        />
      ) : (
        <Issued
          what={words.fields.secretCode}
          coupon={{ ...created, id: undefined, couponCode: created.secretCode }}
          another={text.another}
          onAnother={startAnew}
        />
      )}
    </Page>
  );
}
