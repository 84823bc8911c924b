import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { UserPicker } from '../lookup/user-picker.tsx';
import type { Failure } from '../rpc/failure.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { Problem } from '../ui/page.tsx';
import { TextField } from '../ui/text-field.tsx';
import type { CouponDraft } from './draft.ts';
import { useProblems } from './problems.ts';
import { TermsFields, termsPlaces } from './terms-fields.tsx';

interface CouponFormProps {
  readonly draft: CouponDraft;
  onChange(draft: CouponDraft): void;
  /** The coupon as it is stored; undefined for a new one. */
  readonly stored?: CouponDraft;
  readonly failure: Failure | undefined;
  readonly isPending: boolean;
  onSave(): void;
  /** Where staff come to without saving. */
  readonly back: string;
}

const places = { ...termsPlaces, applicableUsers: 'applicableUsers' };

/** The form for a coupon, new or not. */
export function CouponForm({ draft, onChange, stored, failure, isPending, onSave, back }: CouponFormProps): ReactNode {
  const change = (part: Partial<CouponDraft>) => onChange({ ...draft, ...part });
  const { atFields, elsewhere } = useProblems(failure, places);
  const madeOne = stored === undefined ? 'Leave it empty, and one is made. ' : '';
  return (
    <Form
      className="card coupon-form"
      aria-label="Coupon"
      validationErrors={atFields}
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <TextField
        label="Code"
        name="couponCode"
        autoComplete="off"
        value={draft.couponCode}
        onChange={(couponCode) => change({ couponCode })}
        hint={`${madeOne}Use capital letters: codes are looked up in capitals.`}
      />
      <Choice
        label="For whom"
        value={draft.audience}
        options={{ everyone: 'Everyone', chosen: 'Chosen users', nobody: 'Nobody yet' }}
        onChange={(audience) => change({ audience })}
      />
      {draft.audience === 'chosen' && (
        <UserPicker chosen={draft.users} onChange={(users) => change({ users })} problem={atFields.applicableUsers} />
      )}
      <TermsFields draft={draft} onChange={change} stored={stored} productsProblem={atFields.applicableProducts} />
      {elsewhere !== undefined && <Problem failure={elsewhere} />}
      <div className="actions">
        <ButtonLink href={back}>Cancel</ButtonLink>
        <Button type="submit" emphasis="primary" isPending={isPending}>
          {isPending ? 'Saving…' : stored === undefined ? 'Create coupon' : 'Save'}
        </Button>
      </div>
    </Form>
  );
}
