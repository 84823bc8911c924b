import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useNavigate } from 'react-router';
import { CouponService, type ReservedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { FormEnd } from '../../forms/form-end.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useWrite } from '../../rpc/write.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Issued } from '../issue/issued.tsx';
import { blankDraft, isChange, type TermsDraft, termsChangesOf } from '../record/draft.ts';
import { useProblems } from '../record/problems.ts';
import { TermsFields, termsPlaces } from '../record/terms-fields.tsx';
import { describeDiscount } from '../record/words.ts';

/** Creates a reserved coupon. */
export function Component(): ReactNode {
  const navigate = useNavigate();
  const [draft, setDraft] = useState<TermsDraft>(blankDraft);
  const [created, setCreated] = useState<ReservedCoupon>();
  const create = useWrite(CouponService.method.createReservedCoupon, ({ reservedCoupon }) => ({
    text: `Reserved coupon ${reservedCoupon?.secretCode} created`,
  }));
  const { atFields, elsewhere } = useProblems(create.failure, termsPlaces);
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
        <Form
          aria-label="Reserved coupon"
          validationErrors={atFields}
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <Section title="Code">
            <p>Whoever knows the secret code of a reserved coupon can redeem it.</p>
            <TextField
              label="Secret code"
              name="couponCode"
              autoComplete="off"
              value={draft.couponCode}
              onChange={(couponCode) => change({ couponCode })}
              hint="Leave it empty, and one is made."
            />
          </Section>
          <Section title="Terms">
            <TermsFields draft={draft} onChange={change} productsProblem={atFields.applicableProducts} />
          </Section>
          <FormEnd
            action="Create reserved coupon"
            write={{ isPending: create.isPending, failure: elsewhere }}
            isDirty={isChange(coupon)}
            onCancel={() => void navigate('/coupons/reserved')}
          />
        </Form>
      ) : (
        <Issued
          what="The secret code"
          code={created.secretCode}
          another="Another reserved coupon"
          onAnother={startAnew}
        >
          <p>{describeDiscount(created)}.</p>
        </Issued>
      )}
    </Page>
  );
}
