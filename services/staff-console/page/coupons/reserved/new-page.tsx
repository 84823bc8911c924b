import { type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';
import { CouponService, type ReservedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { useWrite } from '../../rpc/write.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Issued } from '../issue/issued.tsx';
import { CodeField } from '../record/code-field.tsx';
import { termsConcernsOf } from '../record/concerns.ts';
import { blankDraft, isChange, type TermsDraft, termsChangesOf } from '../record/draft.ts';
import { TermsFields, termsPlaces } from '../record/terms-fields.tsx';
import { describeTerms } from '../record/validity.tsx';

/** Creates a reserved coupon. */
export function Component(): ReactNode {
  const navigate = useNavigate();
  const now = useNow(20_000);
  const [draft, setDraft] = useState<TermsDraft>(blankDraft);
  const [created, setCreated] = useState<ReservedCoupon>();
  const create = useWrite(CouponService.method.createReservedCoupon, ({ reservedCoupon }) => ({
    text: `Reserved coupon ${reservedCoupon?.secretCode} created`,
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
    <Page title="New reserved coupon" actions={<ButtonLink href="/coupons/reserved">All reserved coupons</ButtonLink>}>
      {created === undefined ? (
        <EditForm
          label="Reserved coupon"
          action="Create reserved coupon"
          places={termsPlaces}
          write={create}
          isDirty={isChange(coupon)}
          concerns={termsConcernsOf(draft, now)}
          onSend={() => void send()}
          onCancel={() => void navigate('/coupons/reserved')}
        >
          <Section title="Code">
            <p>Whoever knows the secret code of a reserved coupon can redeem it.</p>
            <CodeField
              label="Secret code"
              value={draft.couponCode}
              isUpperCase
              onChange={(couponCode) => change({ couponCode: couponCode.toUpperCase() })}
              hint="Leave it empty, and one is made. In capital letters, as all codes."
            />
          </Section>
          <Section title="Terms">
            <TermsFields draft={draft} onChange={change} problem={create.failure?.fields.applicableProducts} />
          </Section>
        </EditForm>
      ) : (
        <Issued
          what="The secret code"
          code={created.secretCode}
          another="Another reserved coupon"
          onAnother={startAnew}
        >
          <p>{describeTerms(created)}.</p>
        </Issued>
      )}
    </Page>
  );
}
