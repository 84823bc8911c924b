import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { Check, Minus, X } from 'lucide-react';
import { Link } from 'react-aria-components/Link';
import { type CouponDetail, CouponService, ValidationRefusal } from '#gen/coupon/v1/coupon_service_pb';
import { type CheckResponse, ConditionState, type CouponCondition } from '#gen/coupon/v1/redemption_service_pb';
import { currencyDigits, formatAmount, shortAmount } from '../business/money.ts';
import { formatTime } from '../business/time.tsx';
import { Badge, Facts } from '../ui/page.tsx';
import { words } from '../words.ts';
import './record/coupons.css';

const text = words.check;

/** What staff entered of an order. */
export interface Asked {
  readonly code: string;
  readonly orderKey: string;
  readonly orderAmount?: number;
  readonly userId?: number;
  readonly productIds?: readonly number[];
}

const icons = {
  [ConditionState.MET]: ['good', <Check key="met" />, text.met],
  [ConditionState.FAILED]: ['bad', <X key="failed" />, text.failed],
  [ConditionState.NOT_CHECKED]: ['detail', <Minus key="unsaid" />, text.notChecked],
  [ConditionState.UNSPECIFIED]: ['detail', <Minus key="unknown" />, text.notChecked],
} as const;

/** Shows whether a coupon can be used for an order, then what became of each condition. */
export function CheckResult({ answer, asked }: { readonly answer: CheckResponse; readonly asked: Asked }) {
  const { conditions, couponId, discountAmount } = answer;
  const { code, orderKey, orderAmount, userId } = asked;
  // It tells the dates and amounts, of which an answer has none.
  const coupon = useQuery(CouponService.method.getById, couponId === undefined ? skipToken : { id: couponId }).data
    ?.coupon;
  const failed = conditions.find(({ state }) => state === ConditionState.FAILED);
  const unchecked = conditions.filter(({ state }) => state === ConditionState.NOT_CHECKED);
  const unsaid = new Set(unchecked.map(({ condition }) => nameOf(condition)[1] ?? text.another));
  const [kind, verdict, reason] =
    failed !== undefined
      ? (['bad', text.no, describe(failed, answer, asked, coupon)] as const)
      : unsaid.size === 0
        ? (['good', text.yes, ''] as const)
        : unchecked.every(({ condition }) => condition === ValidationRefusal.EXCLUSIVE)
          ? (['plain', text.yes, text.unlessCombined] as const)
          : (['plain', text.notCertain, text.notCertainReason] as const);
  // The two amounts that are shown add up to the order's.
  const digits = currencyDigits();
  const discount = Number(discountAmount?.toFixed(digits));
  const rest = failed === undefined ? Number(orderAmount) - discount : Number.NaN;
  const shown = (amount: number) => (Number.isNaN(amount) ? undefined : formatAmount(amount, digits));
  // There, the uses of the customer are listed.
  const ofUser = failed?.condition === ValidationRefusal.LIMIT_REACHED && userId !== undefined ? `?user=${userId}` : '';
  return (
    <section className="card" aria-label={text.answer} role="status">
      <p>
        <Badge kind={kind}>{verdict}</Badge> <strong>{reason}</strong>
      </p>
      {failed?.condition === ValidationRefusal.NOT_FOUND && <OfReserved code={code} />}
      {unsaid.size > 0 && <p>{text.unsaid(new Intl.ListFormat('en').format(unsaid))}</p>}
      {orderKey !== '' && <p>{text.keeps}</p>}
      <Facts
        rows={[
          [failed === undefined ? text.discount : text.discountIf, shown(discount)],
          [text.rest, shown(rest)],
        ]}
      />
      <ul className="plain conditions" aria-label={text.conditions}>
        {conditions.map((each) => {
          const [colour, icon, state] = icons[each.state];
          return (
            <li key={each.condition}>
              <span className={colour}>{icon}</span>
              <span className="visually-hidden">{state}: </span>
              {nameOf(each.condition)[0]} <span className="detail">{describe(each, answer, asked, coupon)}</span>
            </li>
          );
        })}
      </ul>
      {couponId === undefined ? (
        code !== '' && (
          <Link href={`/coupons?search=${encodeURIComponent(code)}`}>{text.lookFor(code.toUpperCase())}</Link>
        )
      ) : (
        <Link href={`/coupons/${couponId}${ofUser}`}>{text.open(code.toUpperCase())}</Link>
      )}
    </section>
  );
}

/** Says of a code without a coupon that it is that of a reserved one, and what to do. */
function OfReserved({ code }: { readonly code: string }) {
  const { data } = useQuery(CouponService.method.getReservedCoupons, { search: code, limit: 50 }, { staleTime: 0 });
  const reserved = data?.coupons.find(({ secretCode }) => [code, code.toUpperCase()].includes(secretCode));
  if (reserved === undefined) return data && <p>{text.notFoundAdvice}</p>;
  const href = `/coupons/reserved?search=${encodeURIComponent(reserved.secretCode)}`;
  return (
    <p>
      <Link href={href}>{reserved.redeemedUser === undefined ? text.reserved : text.claimed(reserved.couponCode)}</Link>
    </p>
  );
}

/** Names a condition, and what has to be said of an order to check it. */
function nameOf(condition: ValidationRefusal): readonly [name: string, unsaid?: string] {
  return text.names[ValidationRefusal[condition]] ?? [text.another];
}

/** Says of a condition why it has failed, with amounts and dates as far as these are read, or what is met. */
function describe(
  { condition, state, message }: CouponCondition,
  { usesLeft, usesLeftForUser }: CheckResponse,
  { code, orderAmount = Number.NaN, userId, productIds = [] }: Asked,
  coupon: CouponDetail | undefined,
): string {
  const isMet = state === ConditionState.MET;
  const minimum = Number(coupon?.minOrder ?? 0);
  const isMinimum = condition === ValidationRefusal.BELOW_MINIMUM;
  if (state === ConditionState.NOT_CHECKED) return isMinimum && minimum > 0 ? shortAmount(minimum) : '';
  const { startsAt, validTill, maxLimitForUser = 0, maxUses = 0 } = coupon ?? {};
  switch (condition) {
    case ValidationRefusal.CODE_EMPTY:
      return text.enterCode;
    case ValidationRefusal.NOT_FOUND:
      return text.notFound;
    case ValidationRefusal.EXPIRED:
      if (isMet) return validTill ? text.until(formatTime(validTill)) : words.coupons.noEnd;
      return validTill ? text.expired(formatTime(validTill)) : message;
    case ValidationRefusal.NOT_STARTED:
      if (isMet) return startsAt ? text.since(formatTime(startsAt)) : '';
      return startsAt ? text.startsOn(formatTime(startsAt)) : message;
    case ValidationRefusal.NOT_AVAILABLE:
      return isMet ? '' : text.forNobody;
    case ValidationRefusal.BELOW_MINIMUM:
      if (isMet) return minimum > 0 ? shortAmount(minimum) : text.noMinimum;
      return minimum > orderAmount ? text.tooSmall(shortAmount(minimum), shortAmount(minimum - orderAmount)) : message;
    case ValidationRefusal.NOT_FOR_USER:
      return !isMet
        ? text.notForCustomer
        : coupon?.isApplyForAll || userId === undefined
          ? text.forEveryone
          : text.forThis;
    case ValidationRefusal.NOT_FOR_PRODUCTS:
      return !isMet ? text.notForProducts : productIds.length === 0 ? words.coupon.allProducts : '';
    case ValidationRefusal.EXCLUSIVE:
      return isMet ? '' : text.notCombined;
    case ValidationRefusal.LIMIT_REACHED:
      if (!isMet) return maxLimitForUser > 0 ? text.usedByCustomer(maxLimitForUser) : message;
      return usesLeftForUser === undefined ? words.coupons.noLimit : text.left(usesLeftForUser);
    case ValidationRefusal.USED_UP:
      if (!isMet) return maxUses > 0 ? text.usedUp(maxUses) : message;
      return usesLeft === undefined ? words.coupons.noLimit : text.left(usesLeft);
    default:
      return message || code;
  }
}
