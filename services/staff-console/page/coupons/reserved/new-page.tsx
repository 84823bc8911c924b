import { useState } from 'react';
import { CouponService, type ReservedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { useWrite } from '../../rpc/write.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { CouponForm } from '../form/coupon-form.tsx';
import { Issued } from '../issue/issued.tsx';
import { blankDraft, changesOf } from '../record/draft.ts';
import { describeDraft } from '../record/words.ts';

const text = words.coupons.reserved;

/** Creates a reserved coupon. */
export function Component() {
  const [draft, setDraft] = useState(blankDraft);
  const [created, setCreated] = useState<ReservedCoupon>();
  const create = useWrite(CouponService.method.createReservedCoupon, ({ reservedCoupon }) => ({
    text: text.created(reservedCoupon?.secretCode),
  }));
  const send = async () => {
    const { answer } = await create.send({ coupon: changesOf(blankDraft, draft) });
    setCreated(answer?.reservedCoupon);
  };
  const startAnew = () => {
    setDraft(blankDraft);
    setCreated(undefined);
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
          write={create}
          onSend={() => void send()}
          back="/coupons/reserved"
        />
      ) : (
        <Issued
          what={text.secretCode}
          coupon={{ ...created, id: undefined, couponCode: created.secretCode }}
          another={text.another}
          onAnother={startAnew}
        />
      )}
    </Page>
  );
}
