import { useState } from 'react';
import { useNavigate } from 'react-router';
import { CouponService, type ReservedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { useWrite } from '../../rpc/write.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { CodeField } from '../form/code-field.tsx';
import { termsConcernsOf } from '../form/concerns.ts';
import { TermsFields, termsPlaces } from '../form/terms-fields.tsx';
import { Issued } from '../issue/issued.tsx';
import { blankDraft, isChange, type TermsDraft, termsChangesOf } from '../record/draft.ts';
import { describeTerms, describeTermsDraft } from '../record/summary.ts';

const text = words.coupons.reserved;

/** Creates a reserved coupon. */
export function Component() {
  const navigate = useNavigate();
  const now = useNow(20_000);
  const [draft, setDraft] = useState<TermsDraft>(blankDraft);
  const [created, setCreated] = useState<ReservedCoupon>();
  const create = useWrite(CouponService.method.createReservedCoupon, ({ reservedCoupon }) => ({
    text: text.created(reservedCoupon?.secretCode),
  }));
  const change = (part: Partial<TermsDraft>) => setDraft({ ...draft, ...part });
  const coupon = termsChangesOf(blankDraft, draft);
  const send = async () => {
    const { answer } = await create.send({ coupon });
    setCreated(answer?.reservedCoupon);
  };
  const startAnew = () => {
    setDraft(blankDraft);
    setCreated(undefined);
  };
  return (
    <Page title={text.newOne} actions={<ButtonLink href="/coupons/reserved">{text.all}</ButtonLink>}>
      {created === undefined ? (
        <EditForm
          label={text.one}
          action={text.create}
          places={termsPlaces}
          write={create}
          isDirty={isChange(coupon)}
          summary={describeTermsDraft(draft, text.whoever)}
          concerns={termsConcernsOf(draft, now)}
          onSend={() => void send()}
          onCancel={() => void navigate('/coupons/reserved')}
        >
          <Section title={words.coupon.form.codeTitle}>
            <p>{text.explained}</p>
            <CodeField
              label={text.secretCode}
              value={draft.couponCode}
              onChange={(couponCode) => change({ couponCode })}
              hint={text.codeHint}
            />
          </Section>
          <TermsFields draft={draft} onChange={change} problem={create.failure?.fields.applicableProducts} />
        </EditForm>
      ) : (
        <Issued what={text.secretCode} code={created.secretCode} another={text.another} onAnother={startAnew}>
          <p>{describeTerms(created)}.</p>
        </Issued>
      )}
    </Page>
  );
}
