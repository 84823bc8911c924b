import type { ReactNode } from 'react';
import { amountProblem, readAmount } from '../../business/money.ts';
import { Choice } from '../../forms/choice.tsx';
import { Switch } from '../../forms/switch.tsx';
import { TextField, type TextFieldProps } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { ProductPicker } from '../../lookup/pickers.tsx';
import type { TermsDraft } from './draft.ts';

interface TermsFieldsProps {
  readonly draft: TermsDraft;
  onChange(part: Partial<TermsDraft>): void;
  /** The stored terms, which are not checked; undefined for a new coupon. */
  readonly stored?: TermsDraft | undefined;
  /** Whether the terms are those of many codes. */
  readonly ofEachCode?: boolean;
  /** The problem with the products that the service reported. */
  readonly problem: string | undefined;
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

/** The form fields of the terms that coupons and reserved coupons share, except the code. */
export function TermsFields({ draft, onChange, stored, ofEachCode = false, problem }: TermsFieldsProps): ReactNode {
  const { discount } = draft;
  const isPercent = discount.kind === 'percent';
  const isNew = stored === undefined;
  const field = (name: 'maxValue' | 'minOrder' | 'startsAt' | 'validTill' | 'maxLimitForUser' | 'maxUses') => ({
    name,
    value: draft[name],
    onChange: (text: string) => onChange({ [name]: text }),
  });
  const limit = (name: 'maxLimitForUser' | 'maxUses'): Omit<TextFieldProps, 'label'> => ({
    ...{ ...field(name), inputMode: 'numeric', autoComplete: 'off' },
    validate: (text) => limitProblem(text, stored?.[name]),
  });
  return (
    <>
      <div className="row">
        <Choice
          label="Kind of discount"
          value={discount.kind}
          options={{ percent: 'Percent of the order', amount: 'Amount' }}
          onChange={(kind) => onChange({ discount: { ...discount, kind } })}
        />
        {/* Each kind has its own field, so that one does not show the other's problem. */}
        <AmountField
          key={discount.kind}
          label={isPercent ? 'Percent off' : 'Amount off'}
          name="discount"
          value={isPercent ? discount.percent : discount.amount}
          onChange={(text) =>
            onChange({
              discount: { ...discount, ...(isPercent ? { percent: text.replace('%', '') } : { amount: text }) },
            })
          }
          validate={(text) =>
            (isNew && readAmount(text) === 0) || (isPercent && /\p{Sc}/u.test(text))
              ? missing[discount.kind]
              : amountProblem(text)
          }
          hint={isNew ? undefined : 'Empty or 0: no discount.'}
        />
        <AmountField label="Largest discount" {...field('maxValue')} hint="Empty or 0: no limit." />
        <AmountField
          label="Smallest order"
          {...field('minOrder')}
          hint="What an order has to come to. Empty or 0: any order."
        />
        <TimeField label="Starts" {...field('startsAt')} hint="Empty: at once." />
        <TimeField label="Valid until" {...field('validTill')} hint="Empty: no end." />
        <TextField label="Uses for each user" {...limit('maxLimitForUser')} hint="Empty or 0: any number of times." />
        <TextField
          label="Uses in all"
          {...limit('maxUses')}
          hint={`${ofEachCode ? 'Of each code, by' : 'By'} all users together. Empty or 0: no limit.`}
        />
        {ofEachCode && (
          <Switch
            isSelected={Number(draft.maxUses) === 1}
            onChange={(isOnce) => onChange({ maxUses: isOnce ? '1' : '' })}
          >
            Each code once
          </Switch>
        )}
      </div>
      <Switch isSelected={draft.exclusiveApply} onChange={(exclusiveApply) => onChange({ exclusiveApply })}>
        Not with other coupons
      </Switch>
      <ProductPicker
        {...(draft.products.length === 0 && { hint: 'None chosen: all products.' })}
        chosen={draft.products}
        onChange={(products) => onChange({ products })}
        problem={problem}
      />
    </>
  );
}

function AmountField(props: TextFieldProps): ReactNode {
  return <TextField validate={amountProblem} {...props} inputMode="decimal" autoComplete="off" />;
}

const missing = { percent: 'Enter a percentage, such as 10.', amount: 'Enter an amount, such as 50.' };

const largestInteger = 2 ** 31 - 1;

// A limit that an import has stored need not be one that can be entered.
function limitProblem(text: string, stored = ''): string | undefined {
  if (text === '' || text === stored) return undefined;
  return /^\d+$/.test(text) && Number(text) <= largestInteger ? undefined : 'Enter a whole number, such as 3.';
}
