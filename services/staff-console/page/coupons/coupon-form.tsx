import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { useNow } from '../business/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import type { Failure } from '../rpc/failure.ts';
import { Section } from '../ui/page.tsx';
import { AudienceFields } from './record/audience-fields.tsx';
import { CodeField } from './record/code-field.tsx';
import { concernsOf } from './record/concerns.ts';
import { type CouponDraft, changesOf, isChange } from './record/draft.ts';
import { TermsFields, termsPlaces } from './record/terms-fields.tsx';

interface CouponFormProps {
  readonly draft: CouponDraft;
  onChange(draft: CouponDraft): void;
  /** The draft of the stored coupon; undefined for a new one. */
  readonly stored?: CouponDraft;
  /** The draft with which the form began. */
  readonly start: CouponDraft;
  readonly write: { readonly failure: Failure | undefined; readonly isPending: boolean };
  onSave(): void;
  /** The path to which staff return if they cancel. */
  readonly back: string;
  readonly children?: ReactNode;
}

const places = { ...termsPlaces, applicableUsers: 'applicableUsers' };

/** The form for a new or existing coupon. */
export function CouponForm(props: CouponFormProps): ReactNode {
  const { draft, onChange, stored, start, write, onSave, back, children } = props;
  const navigate = useNavigate();
  const now = useNow(20_000);
  const change = (part: Partial<CouponDraft>) => onChange({ ...draft, ...part });
  const { failure } = write;
  return (
    <EditForm
      action={stored === undefined ? 'Create coupon' : 'Save'}
      places={places}
      write={write}
      isDirty={isChange(changesOf(start, draft))}
      concerns={concernsOf(draft, now, stored)}
      onSend={onSave}
      onCancel={() => void navigate(back)}
    >
      <Section title="Code and users">
        <CodeField
          label="Code"
          isUpperCase
          value={draft.couponCode}
          onChange={(code) => change({ couponCode: code.toUpperCase() })}
          hint={`${stored === undefined ? 'Leave it empty, and one is made. ' : ''}In capital letters: a code is looked up in capital letters, exactly as it stands, accents included.`}
        />
        <AudienceFields draft={draft} onChange={change} problem={failure?.fields.applicableUsers} />
      </Section>
      <Section title="Terms">
        <TermsFields draft={draft} onChange={change} stored={stored} problem={failure?.fields.applicableProducts} />
      </Section>
      {children}
    </EditForm>
  );
}
