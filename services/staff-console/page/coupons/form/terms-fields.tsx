import { useState } from 'react';
import { amountProblem, readAmount } from '../../business/money.ts';
import { Choice } from '../../forms/choice.tsx';
import { Switch } from '../../forms/switch.tsx';
import { TextField, type TextFieldProps } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { ProductPicker, UserPicker } from '../../lookup/pickers.tsx';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import type { CouponDraft } from '../record/draft.ts';
import type { FormKind } from './concerns.ts';

const { form: text, terms } = words.coupon;

interface TermsFieldsProps {
  readonly kind: FormKind;
  readonly draft: CouponDraft;
  change(part: Partial<CouponDraft>): void;
  /** The stored terms, which are not checked; undefined for a new coupon. */
  readonly stored: CouponDraft | undefined;
  /** What the service reported, by its names for the fields. */
  readonly problems: Readonly<Record<string, string>> | undefined;
}

/** The sections of a form with the terms, and with the customers unless these claim it. */
export function TermsFields({ kind, draft, change, stored, problems }: TermsFieldsProps) {
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
    validate: (typed) => limitProblem(typed, stored?.[name]),
  });
  // What was typed comes back when staff turn "once" off.
  const [typedUses, setTypedUses] = useState('');
  const setOnce = (isOnce: boolean) => {
    if (isOnce) setTypedUses(draft.maxUses);
    change({ maxUses: isOnce ? '1' : typedUses });
  };
  return (
    <>
      <Section title={terms.discount}>
        <Choice
          label={text.kind}
          value={discount.kind}
          options={text.kinds}
          onChange={(chosen) => change({ discount: { ...discount, kind: chosen } })}
        />
        <div className="row">
          {/* Each kind has its own field, so that one does not show the other's problem. */}
          <AmountField
            key={discount.kind}
            label={isPercent ? terms.percent : terms.amount}
            name="discount"
            value={discount[discount.kind]}
            onChange={(typed) =>
              change({ discount: { ...discount, [discount.kind]: isPercent ? typed.replace('%', '') : typed } })
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
      {kind !== 'reserved' && (
        <Section title={text.who}>
          <Choice
            label={terms.customers}
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
          <TimeField label={terms.starts} {...field('startsAt')} hint={text.atOnce} />
          <TimeField label={terms.ends} {...field('validTill')} hint={text.noEnd} />
        </div>
      </Section>
      <Section title={text.limits}>
        <div className="row">
          <TextField label={terms.perCustomer} {...limit('maxLimitForUser')} hint={text.noLimit} />
          <TextField label={terms.uses} {...limit('maxUses')} hint={kind === 'batch' ? text.ofEachCode : text.ofAll} />
        </div>
        {kind === 'batch' && (
          <Switch isSelected={Number(draft.maxUses) === 1} onChange={setOnce}>
            {text.once}
          </Switch>
        )}
        <Switch isSelected={draft.exclusiveApply} onChange={(exclusiveApply) => change({ exclusiveApply })}>
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
