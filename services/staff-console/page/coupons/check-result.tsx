import { Fragment, type ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { ValidationRefusal } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { type CheckResponse, ConditionState } from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { Badge, Facts } from '../ui/page.tsx';

interface CheckResultProps {
  readonly answer: CheckResponse;
  /** What staff entered. */
  readonly code: string;
  readonly orderKey: string;
  readonly orderAmount?: number;
  readonly userId?: number;
}

/** The conditions, each with what has to be said of an order to check it, and what helps if it has failed. */
const conditionWords: Readonly<
  Partial<Record<ValidationRefusal, readonly [label: string, unsaid?: string, advice?: string]>>
> = {
  [ValidationRefusal.CODE_EMPTY]: ['Code', '', 'Enter the code of the coupon.'],
  [ValidationRefusal.NOT_FOUND]: ['Code', '', 'No coupon has exactly this code in upper case, or it was invalidated.'],
  [ValidationRefusal.EXPIRED]: ['Not expired'],
  [ValidationRefusal.NOT_STARTED]: ['Has started'],
  [ValidationRefusal.NOT_AVAILABLE]: ['Available', '', 'It is for nobody yet: edit it, and say for whom it is.'],
  [ValidationRefusal.BELOW_MINIMUM]: ['Minimum order', 'the order amount'],
  [ValidationRefusal.NOT_FOR_USER]: ['For this customer', 'the customer'],
  [ValidationRefusal.NOT_FOR_PRODUCTS]: ['For these products', 'the products'],
  [ValidationRefusal.EXCLUSIVE]: ['With other coupons', 'the order number'],
  [ValidationRefusal.LIMIT_REACHED]: ['Uses for this customer', 'the customer'],
  [ValidationRefusal.USED_UP]: ['Uses in all'],
};

const stateWords = {
  [ConditionState.MET]: ['good', '✓', 'Met'],
  [ConditionState.FAILED]: ['bad', '✕', 'Failed'],
  [ConditionState.NOT_CHECKED]: ['plain', '–', 'Not said'],
  [ConditionState.UNSPECIFIED]: ['plain', '–', 'Not known'],
} as const;

/** Shows whether a coupon can be used for an order, then what became of each condition. */
export function CheckResult({ answer, code, orderKey, orderAmount, userId }: CheckResultProps): ReactNode {
  const { conditions, couponId, discountAmount, usesLeftForUser, usesLeft } = answer;
  const failed = conditions.find(({ state }) => state === ConditionState.FAILED);
  const unchecked = conditions.filter(({ state }) => state === ConditionState.NOT_CHECKED);
  const left = new Map([
    [ValidationRefusal.LIMIT_REACHED, usesLeftForUser],
    [ValidationRefusal.USED_UP, usesLeft],
  ]);
  const unsaid = new Set(unchecked.map(({ condition }) => conditionWords[condition]?.[1] ?? 'something new'));
  const [kind, verdict, reason] =
    failed !== undefined
      ? (['bad', 'Can’t be used', failed.message] as const)
      : unsaid.size === 0
        ? (['good', 'Can be used', ''] as const)
        : unchecked.every(({ condition }) => condition === ValidationRefusal.EXCLUSIVE)
          ? (['plain', 'Can be used', 'unless the order has a coupon that can’t be combined.'] as const)
          : (['plain', 'Not certain yet', 'Nothing speaks against it so far.'] as const);
  // The two amounts that are shown add up to the order's.
  const digits = currencyDigits();
  const discount = Number(discountAmount?.toFixed(digits));
  const rest = failed === undefined ? Number(orderAmount) - discount : Number.NaN;
  const shown = (amount: number) => (Number.isNaN(amount) ? undefined : formatAmount(amount, digits));
  const name = code.toUpperCase();
  // There, the uses of the customer are listed.
  const ofUser = failed?.condition === ValidationRefusal.LIMIT_REACHED && userId !== undefined ? `?user=${userId}` : '';
  return (
    <section className="card" aria-label="Answer" role="status">
      <p>
        <Badge kind={kind}>{verdict}</Badge> <strong>{reason}</strong>
      </p>
      {failed !== undefined && <p>{conditionWords[failed.condition]?.[2]}</p>}
      {unsaid.size > 0 && <p>Not checked, because it was not said: {new Intl.ListFormat('en').format(unsaid)}.</p>}
      {orderKey !== '' && <p>If the order has used the coupon already, it keeps that discount.</p>}
      <Facts
        rows={[
          [failed === undefined ? 'Discount' : 'Discount, if it could be used', shown(discount)],
          ['The order then costs', shown(rest)],
        ]}
      />
      <h2>Conditions</h2>
      <Facts
        rows={conditions.map(({ condition, state, message }) => [
          conditionWords[condition]?.[0] ?? 'Another condition',
          <Fragment key={condition}>
            <Badge kind={stateWords[state][0]}>
              <span aria-hidden="true">{stateWords[state][1]}</span> {stateWords[state][2]}
            </Badge>{' '}
            {message || describeLeft(left.get(condition))}
          </Fragment>,
        ])}
      />
      {couponId !== undefined && <Link href={`/coupons/${couponId}${ofUser}`}>Open coupon {name}</Link>}
      {couponId === undefined && code !== '' && (
        <Link href={`/coupons?search=${encodeURIComponent(code)}`}>Look for {name} among the coupons</Link>
      )}
    </section>
  );
}

const describeLeft = (count: number | undefined) => count !== undefined && `${count.toLocaleString('en')} left`;
