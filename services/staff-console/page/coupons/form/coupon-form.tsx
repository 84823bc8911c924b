import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import type { Failure } from '../../rpc/failure.ts';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { type CouponDraft, changesOf, isChange } from '../record/draft.ts';
import { describeDraft } from '../record/summary.ts';
import { AudienceFields } from './audience-fields.tsx';
import { CodeField } from './code-field.tsx';
import { concernsOf } from './concerns.ts';
import { TermsFields, termsPlaces } from './terms-fields.tsx';

const text = words.coupon.form;

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
export function CouponForm(props: CouponFormProps) {
  const { draft, onChange, stored, start, write, onSave, back, children } = props;
  const navigate = useNavigate();
  const now = useNow(20_000);
  const change = (part: Partial<CouponDraft>) => onChange({ ...draft, ...part });
  const { failure } = write;
  return (
    <EditForm
      {...(stored === undefined && { action: text.create })}
      places={places}
      write={write}
      isDirty={isChange(changesOf(start, draft))}
      summary={describeDraft(draft)}
      concerns={concernsOf(draft, now, stored)}
      onSend={onSave}
      onCancel={() => void navigate(back)}
    >
      <Section title={text.codeTitle}>
        <CodeField
          label={words.coupon.terms.code}
          value={draft.couponCode}
          onChange={(couponCode) => change({ couponCode })}
          hint={stored === undefined ? text.newCodeHint : text.codeHint}
        />
      </Section>
      <TermsFields draft={draft} onChange={change} stored={stored} problem={failure?.fields.applicableProducts}>
        <AudienceFields draft={draft} onChange={change} problem={failure?.fields.applicableUsers} />
      </TermsFields>
      {children}
    </EditForm>
  );
}
