import type { ComponentProps } from 'react';
import { useNavigate } from 'react-router';
import { amountProblem, readAmount } from '../../business/money.ts';
import { useNow } from '../../business/time.tsx';
import { Choice } from '../../forms/choice.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { Switch } from '../../forms/switch.tsx';
import { TextField, type TextFieldProps } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { ProductPicker, UserPicker } from '../../lookup/pickers.tsx';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { type CouponDraft, changesOf, isChange } from '../record/draft.ts';
import { describeDraft } from '../record/words.ts';
import { concernsOf, type FormKind } from './concerns.ts';
import '../record/coupons.css';

const { form: text } = words.coupon;
const { reserved } = words.coupons;

type FormProps = ComponentProps<typeof EditForm>;

interface CouponFormProps extends Partial<FormProps> {
  readonly kind: FormKind;
  readonly draft: CouponDraft;
  change(part: Partial<CouponDraft>): void;
  /** The draft with which the form began: of an edit, that of the stored coupon. */
  readonly start: CouponDraft;
  readonly write: NonNullable<FormProps['write']>;
  onSend(): void;
  readonly back: string;
}

const fields = [
  ...['couponCode', 'discount', 'minOrder', 'maxValue', 'startsAt', 'validTill', 'maxLimitForUser', 'maxUses'],
  ...['applicableProducts', 'applicableUsers', 'name', 'count', 'prefix', 'codeLength'],
];
/** Where the form shows problems, by the service's names for the fields. */
const places = {
  ...Object.fromEntries(fields.map((name) => [name, name])),
  ...{ discountPercent: 'discount', flatDiscount: 'discount' },
};

/** The form for new coupons of all kinds and for an existing one. Its children stand above the fields that all have. */
export function CouponForm(props: CouponFormProps) {
  const { kind, draft, change, start, back, children, ...rest } = props;
  const navigate = useNavigate();
  const now = useNow(20_000);
  const setCode = (code: string) => change({ couponCode: code.toUpperCase().replace(invisible, '') });
  const hint = kind === 'new' ? text.newCodeHint : text.codeHint;
  return (
    <EditForm
      places={places}
      isDirty={isChange(changesOf(start, draft))}
      summary={describeDraft(draft)}
      concerns={concernsOf(kind, draft, start, now)}
      onCancel={() => void navigate(back)}
      {...rest}
    >
      {children}
      {kind !== 'batch' && (
        <Section title={text.codeTitle}>
          {kind === 'reserved' && <p>{reserved.explained}</p>}
          <div className="with-button labelled">
            <TextField
              label={kind === 'reserved' ? words.fields.secretCode : words.fields.couponCode}
              hint={kind === 'reserved' ? reserved.codeHint : hint}
              isUpperCase
              name="couponCode"
              autoComplete="off"
              spellCheck="false"
              value={draft.couponCode}
              onChange={setCode}
            />
            <Button onPress={() => setCode(drawCode())}>{text.generate}</Button>
          </div>
        </Section>
      )}
      <TermsFields {...{ kind, draft, change, start }} write={rest.write} />
    </EditForm>
  );
}

type TermsFieldsProps = Pick<CouponFormProps, 'kind' | 'draft' | 'change' | 'start' | 'write'>;

/** The sections of a form with the terms, and with the customers unless these claim it. */
function TermsFields({ kind, draft, change, start, write }: TermsFieldsProps) {
  // The stored terms are not checked.
  const stored = kind === 'edit' ? start : undefined;
  const problems = write.failure?.fields;
  const { discount, audience, users, products } = draft;
  const isPercent = discount.kind === 'percent';
  const isNew = stored === undefined;
  const field = (name: 'maxValue' | 'minOrder' | 'startsAt' | 'validTill' | 'maxLimitForUser' | 'maxUses') => ({
    name,
    value: draft[name],
    onChange: (typed: string) => change({ [name]: typed }),
  });
  const limit = (name: 'maxLimitForUser' | 'maxUses'): Omit<TextFieldProps, 'label'> => ({
    ...{ ...field(name), inputMode: 'numeric', autoComplete: 'off' },
    // As in "1,000".
    onChange: (typed) => change({ [name]: typed.replace(/[\s,]/g, '') }),
    validate: (typed) => limitProblem(typed, stored?.[name]),
  });
  const setDiscount = (part: Partial<typeof discount>) => change({ discount: { ...discount, ...part } });
  const discountProblem = (typed: string) => {
    const isMissing = (isNew && readAmount(typed) === 0) || (isPercent && /\p{Sc}/u.test(typed));
    return isMissing ? text.missing[discount.kind] : amountProblem(typed);
  };
  return (
    <>
      <Section title={words.fields.discountAmount}>
        <Choice
          label={text.kind}
          value={discount.kind}
          options={text.kinds}
          onChange={(kind) => setDiscount({ kind })}
        />
        <div className="row">
          {/* Each kind has its own field, so that one does not show the other's problem. */}
          <AmountField
            key={discount.kind}
            label={isPercent ? words.fields.discountPercent : words.fields.flatDiscount}
            name="discount"
            value={discount[discount.kind]}
            onChange={(typed) => setDiscount({ [discount.kind]: isPercent ? typed.replace('%', '') : typed })}
            validate={discountProblem}
            hint={isNew ? undefined : text.noDiscount}
          />
          <AmountField label={words.fields.maxValue} {...field('maxValue')} hint={text.noLimit} />
          <AmountField label={words.fields.minOrder} {...field('minOrder')} hint={text.anyOrder} />
        </div>
      </Section>
      {kind !== 'reserved' && (
        <Section title={text.who}>
          <Choice
            label={words.fields.applicableUsers}
            name="audience"
            value={audience}
            options={text.audiences}
            onChange={(chosen) => change({ audience: chosen })}
          />
          {audience === 'chosen' && (
            <UserPicker
              label={text.chosen}
              chosen={users}
              onChange={(chosen) => change({ users: chosen })}
              problem={problems?.applicableUsers}
            />
          )}
        </Section>
      )}
      <Section title={text.what}>
        <ProductPicker
          {...(products.length === 0 && { hint: text.allProducts })}
          chosen={products}
          onChange={(chosen) => change({ products: chosen })}
          problem={problems?.applicableProducts}
        />
      </Section>
      <Section title={text.when}>
        <div className="row">
          <TimeField label={words.fields.startsAt} {...field('startsAt')} hint={text.atOnce} usual="00:00" />
          <TimeField label={words.fields.validTill} {...field('validTill')} hint={text.noEnd} usual="23:59" />
        </div>
      </Section>
      <Section title={text.limits}>
        <div className="row">
          <TextField label={words.fields.maxLimitForUser} {...limit('maxLimitForUser')} hint={text.noLimit} />
          <TextField
            label={words.fields.maxUses}
            {...limit('maxUses')}
            hint={kind === 'batch' ? text.ofEachCode : text.ofAll}
          />
        </div>
        {kind === 'batch' && (
          <Switch
            isSelected={Number(draft.maxUses) === 1}
            onChange={(isOnce) => change({ maxUses: isOnce ? '1' : '' })}
          >
            {text.once}
          </Switch>
        )}
        <Switch isSelected={draft.exclusiveApply} onChange={(exclusiveApply) => change({ exclusiveApply })}>
          {words.fields.exclusiveApply}
        </Switch>
      </Section>
    </>
  );
}

/** As in the codes of a batch: none that look alike, and no vowels. */
const letters = 'BCDFGHJKMNPQRSTVWXYZ23456789';

function drawCode(): string {
  return [...crypto.getRandomValues(new Uint32Array(10))].map((n) => letters[n % letters.length]).join('');
}

/** What nobody sees in a code that was pasted, and so nobody can type again. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

function AmountField(props: TextFieldProps) {
  return <TextField validate={amountProblem} {...props} inputMode="decimal" autoComplete="off" />;
}

const largestInteger = 2 ** 31 - 1;

// A limit that an import has stored need not be one that can be entered.
function limitProblem(typed: string, stored = ''): string | undefined {
  if (typed === '' || typed === stored) return undefined;
  return /^[1-9]\d*$/.test(typed) && Number(typed) <= largestInteger ? undefined : text.missing.limit;
}
