import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { ValidationRefusal } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import {
  type CheckResponse,
  ConditionState,
  type CouponCondition,
} from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { Badge, Facts } from '../ui/page.tsx';

interface CheckResultProps {
  readonly answer: CheckResponse;
  /** The coupon code and the order amount that staff entered. */
  readonly code: string;
  readonly orderAmount?: number;
}

/** The conditions, each with what has to be said of an order to check it. */
const conditionWords: Readonly<Partial<Record<ValidationRefusal, readonly [label: string, unsaid?: string]>>> = {
  [ValidationRefusal.CODE_EMPTY]: ['Code'],
  [ValidationRefusal.NOT_FOUND]: ['Code'],
  [ValidationRefusal.EXPIRED]: ['Not expired'],
  [ValidationRefusal.NOT_STARTED]: ['Has started'],
  [ValidationRefusal.NOT_AVAILABLE]: ['Available'],
  [ValidationRefusal.BELOW_MINIMUM]: ['Minimum order', 'the order amount'],
  [ValidationRefusal.NOT_FOR_USER]: ['For this customer', 'the customer'],
  [ValidationRefusal.NOT_FOR_PRODUCTS]: ['For these products', 'the products'],
  [ValidationRefusal.EXCLUSIVE]: ['With other coupons', 'the order number'],
  [ValidationRefusal.LIMIT_REACHED]: ['Uses for this customer', 'the customer'],
  [ValidationRefusal.USED_UP]: ['Uses in all'],
};

const advice: Readonly<Partial<Record<ValidationRefusal, string>>> = {
  [ValidationRefusal.CODE_EMPTY]: 'Enter the code of the coupon.',
  [ValidationRefusal.NOT_FOUND]:
    'No coupon has exactly this code, or it was invalidated. One that was stored in lower case is never found.',
  [ValidationRefusal.NOT_AVAILABLE]: 'It is for nobody yet: edit it, and say for whom it is.',
};

/** Shows whether a coupon can be used for an order, then what became of each condition. */
export function CheckResult({ answer, code, orderAmount }: CheckResultProps): ReactNode {
  const { conditions, couponId, discountAmount } = answer;
  const failed = conditions.find(({ state }) => state === ConditionState.FAILED);
  const unchecked = conditions.filter(({ state }) => state === ConditionState.NOT_CHECKED);
  const unsaid = new Set(unchecked.map(({ condition }) => conditionWords[condition]?.[1] ?? 'something new'));
  // The two amounts that are shown add up to the order's.
  const digits = currencyDigits();
  const discount = Number(discountAmount?.toFixed(digits));
  const rest = failed === undefined ? Number(orderAmount) - discount : Number.NaN;
  const shown = (amount: number) => (Number.isNaN(amount) ? undefined : formatAmount(amount, digits));
  const name = code.toUpperCase();
  return (
    <section className="card" aria-label="Answer" role="status">
      <p>
        {failed !== undefined ? (
          <>
            <Badge kind="bad">Can’t be used</Badge> <strong>{failed.message}</strong>
          </>
        ) : unsaid.size > 0 ? (
          <>
            <Badge kind="plain">Not certain yet</Badge> <strong>Nothing speaks against it so far.</strong>
          </>
        ) : (
          <Badge kind="good">Can be used</Badge>
        )}
      </p>
      {failed !== undefined && <p>{advice[failed.condition]}</p>}
      {unsaid.size > 0 && <p>Not checked, because it was not said: {new Intl.ListFormat('en').format(unsaid)}.</p>}
      <Facts
        rows={[
          [failed === undefined ? 'Discount' : 'Discount, if it could be used', shown(discount)],
          ['The order then costs', shown(rest)],
        ]}
      />
      <h2>Conditions</h2>
      <Facts
        rows={conditions.map((each) => [
          conditionWords[each.condition]?.[0] ?? 'Another condition',
          <Condition key={each.condition} condition={each} left={leftOf(answer, each)} />,
        ])}
      />
      {couponId !== undefined && <Link href={`/coupons/${couponId}`}>Open coupon {name}</Link>}
      {couponId === undefined && code !== '' && (
        <Link href={`/coupons?search=${encodeURIComponent(code)}`}>Look for {name} among the coupons</Link>
      )}
    </section>
  );
}

const stateWords = {
  [ConditionState.MET]: ['good', '✓', 'Met'],
  [ConditionState.FAILED]: ['bad', '✕', 'Failed'],
  [ConditionState.NOT_CHECKED]: ['plain', '–', 'Not said'],
  [ConditionState.UNSPECIFIED]: ['plain', '–', 'Not known'],
} as const;

interface ConditionProps {
  readonly condition: CouponCondition;
  /** How many uses are left; undefined if there is no such limit. */
  readonly left: number | undefined;
}

function Condition({ condition: { state, message }, left }: ConditionProps): ReactNode {
  const [kind, sign, words] = stateWords[state];
  return (
    <>
      <Badge kind={kind}>
        <span aria-hidden="true">{sign}</span> {words}
      </Badge>{' '}
      {message || (left !== undefined && `${left.toLocaleString('en')} left`)}
    </>
  );
}

function leftOf({ usesLeft, usesLeftForUser }: CheckResponse, { condition }: CouponCondition): number | undefined {
  if (condition === ValidationRefusal.USED_UP) return usesLeft;
  return condition === ValidationRefusal.LIMIT_REACHED ? usesLeftForUser : undefined;
}
