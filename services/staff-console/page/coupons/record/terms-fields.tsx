import type { ReactNode } from 'react';
import { Choice, Switch } from '../../forms/choice.tsx';
import { TextField, type TextFieldProps } from '../../forms/text-field.tsx';
import { ProductPicker } from '../../lookup/product-picker.tsx';
import { timeZone } from '../../ui/time.tsx';
import type { TermsDraft } from './draft.ts';

interface TermsFieldsProps {
  readonly draft: TermsDraft;
  onChange(part: Partial<TermsDraft>): void;
  /** The stored terms, which an update can't clear; undefined for a new coupon. */
  readonly stored?: TermsDraft | undefined;
  /** The problem with the products that the service reported. */
  readonly productsProblem: string | undefined;
}

/** The form's fields that show problems with the terms, by the service's names for the fields. */
export const termsPlaces = {
  couponCode: 'couponCode',
  discount: 'discount',
  discountPercent: 'discount',
  flatDiscount: 'discount',
  minOrder: 'minOrder',
  maxValue: 'maxValue',
  validTill: 'validTill',
  maxLimitForUser: 'maxLimitForUser',
  applicableProducts: 'applicableProducts',
};

/** The form fields of the terms that coupons and reserved coupons share, except the code. */
export function TermsFields({ draft, onChange, stored, productsProblem }: TermsFieldsProps): ReactNode {
  const isPercent = draft.discountKind === 'percent';
  const isNew = stored === undefined;
  return (
    <>
      <div className="row">
        <Choice
          label="Kind of discount"
          value={draft.discountKind}
          options={{ percent: 'Percent of the order', amount: 'Amount' }}
          onChange={(discountKind) => onChange({ discountKind })}
        />
        {/* Each kind has its own field, so that one does not show the other's problem. */}
        <AmountField
          key={draft.discountKind}
          label={isPercent ? 'Percent off' : 'Amount off'}
          name="discount"
          value={isPercent ? draft.discountPercent : draft.flatDiscount}
          onChange={(text) => onChange(isPercent ? { discountPercent: text } : { flatDiscount: text })}
          hint={isNew ? undefined : 'Empty or 0: no discount.'}
        />
        <AmountField
          label="Largest discount"
          name="maxValue"
          value={draft.maxValue}
          onChange={(maxValue) => onChange({ maxValue })}
          hint="Empty or 0: no limit."
        />
        <AmountField
          label="Smallest order"
          name="minOrder"
          value={draft.minOrder}
          onChange={(minOrder) => onChange({ minOrder })}
          hint="What an order has to come to. Empty or 0: any order."
        />
        <TextField
          label="Valid until"
          name="validTill"
          type="datetime-local"
          value={draft.validTill}
          onChange={(validTill) => onChange({ validTill })}
          hint={`In ${timeZone}. Empty: for ever.`}
        />
        <TextField
          label="Uses for each user"
          name="maxLimitForUser"
          inputMode="numeric"
          autoComplete="off"
          value={draft.maxLimitForUser}
          onChange={(maxLimitForUser) => onChange({ maxLimitForUser })}
          validate={(text) => limitProblem(text, stored?.maxLimitForUser)}
          hint={isNew ? 'Empty: any number of times.' : undefined}
        />
      </div>
      <Switch isSelected={draft.exclusiveApply} onChange={(exclusiveApply) => onChange({ exclusiveApply })}>
        Not with other coupons
      </Switch>
      <ProductPicker
        hint="None chosen: all products."
        chosen={draft.products}
        onChange={(products) => onChange({ products })}
        problem={productsProblem}
      />
    </>
  );
}

function AmountField(props: TextFieldProps): ReactNode {
  return <TextField {...props} inputMode="decimal" autoComplete="off" validate={amountProblem} />;
}

/** Returns the problem with an amount; undefined if it is valid. */
export function amountProblem(text: string): string | undefined {
  return /^\s*(\d+(\.\d+)?)?\s*$/.test(text) ? undefined : 'Enter a number, such as 150 or 99.5.';
}

const largestInteger = 2 ** 31 - 1;

function limitProblem(text: string, stored = ''): string | undefined {
  if (text === '') return stored === '' ? undefined : 'A limit that was set can be changed, but not taken away.';
  return /^\d+$/.test(text) && Number(text) <= largestInteger ? undefined : 'Enter a whole number, such as 3.';
}
