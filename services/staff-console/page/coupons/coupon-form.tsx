import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';
import { useNavigate } from 'react-router';
import { Choice } from '../forms/choice.tsx';
import { FormEnd } from '../forms/form-end.tsx';
import { TextField } from '../forms/text-field.tsx';
import { UserPicker } from '../lookup/user-picker.tsx';
import type { Failure } from '../rpc/failure.ts';
import { Section } from '../ui/page.tsx';
import { type CouponDraft, changesOf, isChange } from './record/draft.ts';
import { useProblems } from './record/problems.ts';
import { TermsFields, termsPlaces } from './record/terms-fields.tsx';

interface CouponFormProps {
  readonly draft: CouponDraft;
  onChange(draft: CouponDraft): void;
  /** The draft with which the form began. */
  readonly start: CouponDraft;
  readonly isNew: boolean;
  readonly write: { readonly failure: Failure | undefined; readonly isPending: boolean };
  onSave(): void;
  /** The path to which staff return if they cancel. */
  readonly back: string;
}

const places = { ...termsPlaces, applicableUsers: 'applicableUsers' };

/** The form for a new or existing coupon. */
export function CouponForm({ draft, onChange, start, isNew, write, onSave, back }: CouponFormProps): ReactNode {
  const navigate = useNavigate();
  const change = (part: Partial<CouponDraft>) => onChange({ ...draft, ...part });
  const { atFields, elsewhere } = useProblems(write.failure, places);
  return (
    <Form
      validationErrors={atFields}
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <Section title="Code and users">
        <TextField
          label="Code"
          name="couponCode"
          autoComplete="off"
          value={draft.couponCode}
          onChange={(couponCode) => change({ couponCode })}
          hint={`${isNew ? 'Leave it empty, and one is made. ' : ''}Codes are looked up in capital letters.`}
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
      </Section>
      <Section title="Terms">
        <TermsFields
          draft={draft}
          onChange={change}
          stored={isNew ? undefined : start}
          productsProblem={atFields.applicableProducts}
        />
      </Section>
      <FormEnd
        action={isNew ? 'Create coupon' : 'Save'}
        write={{ isPending: write.isPending, failure: elsewhere }}
        isDirty={isChange(changesOf(start, draft))}
        onCancel={() => void navigate(back)}
      />
    </Form>
  );
}
