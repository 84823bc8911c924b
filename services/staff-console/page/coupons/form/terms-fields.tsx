import { type ReactNode, useState } from 'react';
import { amountProblem, readAmount } from '../../business/money.ts';
import { Choice } from '../../forms/choice.tsx';
import { Switch } from '../../forms/switch.tsx';
import { TextField, type TextFieldProps } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { ProductPicker } from '../../lookup/pickers.tsx';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import type { TermsDraft } from '../record/draft.ts';

const { form: text, terms } = words.coupon;

interface TermsFieldsProps {
  readonly draft: TermsDraft;
  onChange(part: Partial<TermsDraft>): void;
  /** The stored terms, which are not checked; undefined for a new coupon. */
  readonly stored?: TermsDraft | undefined;
  /** Whether the terms are those of many codes. */
  readonly ofEachCode?: boolean;
  /** The problem with the products that the service reported. */
  readonly problem: string | undefined;
  /** The section that says for whom it is. */
  readonly children?: ReactNode;
}

/** The form's fields that show problems with the terms, by the service's names for the fields. */
export const termsPlaces = {
  couponCode: 'couponCode',
  discount: 'discount',
  discountPercent: 'discount',
  flatDiscount: 'discount',
  minOrder: 'minOrder',
  maxValue: 'maxValue',
  startsAt: 'startsAt',
  validTill: 'validTill',
  maxLimitForUser: 'maxLimitForUser',
  maxUses: 'maxUses',
  applicableProducts: 'applicableProducts',
};

/** The sections of a form with the terms that coupons and reserved coupons share, except the code. */
export function TermsFields(props: TermsFieldsProps) {
  const { draft, onChange, stored, ofEachCode = false, problem, children } = props;
  const { discount } = draft;
  const isPercent = discount.kind === 'percent';
  const isNew = stored === undefined;
  const field = (name: 'maxValue' | 'minOrder' | 'startsAt' | 'validTill' | 'maxLimitForUser' | 'maxUses') => ({
    name,
    value: draft[name],
    onChange: (typed: string) => onChange({ [name]: typed }),
  });
  const limit = (name: 'maxLimitForUser' | 'maxUses'): Omit<TextFieldProps, 'label'> => ({
    ...{ ...field(name), inputMode: 'numeric', autoComplete: 'off' },
    validate: (typed) => limitProblem(typed, stored?.[name]),
  });
  // What was typed comes back when staff turn "once" off.
  const [typedUses, setTypedUses] = useState('');
  const setOnce = (isOnce: boolean) => {
    if (isOnce) setTypedUses(draft.maxUses);
    onChange({ maxUses: isOnce ? '1' : typedUses });
  };
  return (
    <>
      <Section title={terms.discount}>
        <Choice
          label={text.kind}
          value={discount.kind}
          options={text.kinds}
          onChange={(kind) => onChange({ discount: { ...discount, kind } })}
        />
        <div className="row">
          {/* Each kind has its own field, so that one does not show the other's problem. */}
          <AmountField
            key={discount.kind}
            label={isPercent ? terms.percent : terms.amount}
            name="discount"
            value={isPercent ? discount.percent : discount.amount}
            onChange={(typed) =>
              onChange({
                discount: { ...discount, ...(isPercent ? { percent: typed.replace('%', '') } : { amount: typed }) },
              })
            }
            validate={(typed) =>
              (isNew && readAmount(typed) === 0) || (isPercent && /\p{Sc}/u.test(typed))
                ? text.missing[discount.kind]
                : amountProblem(typed)
            }
            hint={isNew ? undefined : text.noDiscount}
          />
          <AmountField label={terms.maxValue} {...field('maxValue')} hint={text.noLimit} />
          <AmountField label={terms.minOrder} {...field('minOrder')} hint={text.anyOrder} />
        </div>
      </Section>
      {children}
      <Section title={text.what}>
        <ProductPicker
          {...(draft.products.length === 0 && { hint: text.allProducts })}
          chosen={draft.products}
          onChange={(products) => onChange({ products })}
          problem={problem}
        />
      </Section>
      <Section title={text.when}>
        <div className="row">
          <TimeField label={terms.starts} {...field('startsAt')} hint={text.atOnce} />
          <TimeField label={terms.ends} {...field('validTill')} hint={text.noEnd} />
        </div>
      </Section>
      <Section title={text.limits}>
        <div className="row">
          <TextField label={terms.perCustomer} {...limit('maxLimitForUser')} hint={text.noLimit} />
          <TextField label={terms.uses} {...limit('maxUses')} hint={ofEachCode ? text.ofEachCode : text.ofAll} />
        </div>
        {ofEachCode && (
          <Switch isSelected={Number(draft.maxUses) === 1} onChange={(isOnce) => setOnce(isOnce)}>
            {text.once}
          </Switch>
        )}
        <Switch isSelected={draft.exclusiveApply} onChange={(exclusiveApply) => onChange({ exclusiveApply })}>
          {terms.exclusive}
        </Switch>
      </Section>
    </>
  );
}

function AmountField(props: TextFieldProps) {
  return <TextField validate={amountProblem} {...props} inputMode="decimal" autoComplete="off" />;
}

const largestInteger = 2 ** 31 - 1;

// A limit that an import has stored need not be one that can be entered.
function limitProblem(typed: string, stored = ''): string | undefined {
  if (typed === '' || typed === stored) return undefined;
  return /^\d+$/.test(typed) && Number(typed) <= largestInteger ? undefined : text.missing.limit;
}
