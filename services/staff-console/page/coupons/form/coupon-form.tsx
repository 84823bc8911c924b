import type { ComponentProps } from 'react';
import { useNavigate } from 'react-router';
import { useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { type CouponDraft, changesOf, isChange } from '../record/draft.ts';
import { describeDraft } from '../record/words.ts';
import { concernsOf, type FormKind } from './concerns.ts';
import { TermsFields } from './terms-fields.tsx';
import '../record/coupons.css';

const text = words.coupon.form;
const { reserved } = words.coupons;

type FormProps = ComponentProps<typeof EditForm>;

interface CouponFormProps extends Partial<FormProps> {
  readonly kind: FormKind;
  readonly draft: CouponDraft;
  change(part: Partial<CouponDraft>): void;
  /** The draft with which the form began: of an edit, that of the stored coupon. */
  readonly start: CouponDraft;
  readonly write: FormProps['write'];
  onSend(): void;
  /** The path to which staff return if they cancel. */
  readonly back: string;
}

const fields = [
  ...['couponCode', 'discount', 'minOrder', 'maxValue', 'startsAt', 'validTill', 'maxLimitForUser', 'maxUses'],
  ...['applicableProducts', 'applicableUsers', 'name', 'count', 'prefix', 'codeLength'],
];
const places = {
  ...Object.fromEntries(fields.map((name) => [name, name])),
  ...{ discountPercent: 'discount', flatDiscount: 'discount' },
};

/** The form for new coupons of all kinds and for an existing one. Its children stand above the fields that all have. */
export function CouponForm(props: CouponFormProps) {
  const { kind, draft, change, start, back, children, ...rest } = props;
  const navigate = useNavigate();
  const now = useNow(20_000);
  const stored = kind === 'edit' ? start : undefined;
  const setCode = (code: string) => change({ couponCode: code.toUpperCase() });
  const hint = kind === 'new' ? text.newCodeHint : text.codeHint;
  return (
    <EditForm
      places={places}
      isDirty={isChange(changesOf(start, draft))}
      summary={describeDraft(draft)}
      concerns={concernsOf(draft, kind, now, stored)}
      onCancel={() => void navigate(back)}
      {...rest}
    >
      {children}
      {kind !== 'batch' && (
        <Section title={text.codeTitle}>
          {kind === 'reserved' && <p>{reserved.explained}</p>}
          <div className="code-field">
            <TextField
              label={kind === 'reserved' ? reserved.secretCode : words.coupon.terms.code}
              hint={kind === 'reserved' ? reserved.codeHint : hint}
              isUpperCase
              name="couponCode"
              autoComplete="off"
              spellCheck="false"
              value={draft.couponCode}
              onChange={setCode}
              validate={invisibleProblem}
            />
            <Button onPress={() => setCode(drawCode())}>{text.generate}</Button>
          </div>
        </Section>
      )}
      <TermsFields {...{ kind, draft, change, stored }} problems={rest.write.failure?.fields} />
    </EditForm>
  );
}

/** As in the codes of a batch: none that look alike. */
const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

function drawCode(): string {
  return [...crypto.getRandomValues(new Uint32Array(10))].map((n) => letters[n % letters.length]).join('');
}

/** Names the first character of a code that nobody can see, and so nobody can type again; undefined if it has none. */
function invisibleProblem(code: string): string | undefined {
  const typed = code.trim();
  const [found] = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u.exec(typed) ?? [];
  if (found === undefined) return undefined;
  const number = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return text.invisible(number, typed.slice(0, typed.indexOf(found)));
}
