import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { Check, Minus, X } from 'lucide-react';
import { Link } from 'react-aria-components/Link';
import { ValidationRefusal as Condition, type CouponDetail, CouponService } from '#gen/coupon/v1/coupon_service_pb';
import {
  type CheckRequest,
  type CheckResponse,
  ConditionState,
  type CouponCondition,
  type Redemption,
  RedemptionService,
  RedemptionState,
} from '#gen/coupon/v1/redemption_service_pb';
import { currencyDigits, formatAmount, shortAmount } from '../business/money.ts';
import { formatTime, useNow } from '../business/time.tsx';
import { orderPath } from '../redemptions/order.ts';
import { Badge, Facts } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { productsOf } from './record/draft.ts';
import './record/coupons.css';

const text = words.check;
const { noLimit } = words;
const { noEnd } = words.coupons;

/** What staff entered of an order. */
type Asked = Pick<CheckRequest, 'code' | 'orderKey' | 'orderAmount' | 'userId' | 'productIds'> & {
  hasAmounts: boolean;
};

const notChecked = ['detail', <Minus key="unchecked" />, text.notChecked] as const;
const icons = {
  [ConditionState.MET]: ['good', <Check key="met" />, text.met],
  [ConditionState.FAILED]: ['bad', <X key="failed" />, text.failed],
  [ConditionState.NOT_CHECKED]: notChecked,
  [ConditionState.UNSPECIFIED]: notChecked,
} as const;

/** Shows whether a coupon can be used for an order, then what became of each condition. */
export function CheckResult({ answer, asked }: { readonly answer: CheckResponse; readonly asked: Asked }) {
  const { conditions, couponId, discountAmount } = answer;
  const { code, orderKey, orderAmount, userId } = asked;
  // It tells the dates and amounts, of which an answer has none.
  const { data } = useQuery(CouponService.method.getById, couponId === undefined ? skipToken : { id: couponId });
  const isSome = data?.coupon !== undefined && productsOf(data.coupon).length > 0;
  const isWhole = isSome && asked.productIds.length > 0 && !asked.hasAmounts && discountAmount !== undefined;
  const failed = conditions.find(({ state }) => state === ConditionState.FAILED);
  const isTaken = failed?.condition === Condition.LIMIT_REACHED;
  const hold = useHold(isTaken ? couponId : undefined, userId);
  const details = detailsOf(answer, asked, data?.coupon, hold);
  const describe = ({ condition, state, message }: CouponCondition) => {
    const [met, failed, unchecked = ''] = details[condition] ?? [message || code, message || code];
    if (state === ConditionState.NOT_CHECKED) return unchecked;
    return state === ConditionState.MET ? met : failed || message;
  };
  const unchecked = conditions.filter(({ state }) => state === ConditionState.NOT_CHECKED);
  const unsaid = new Set(unchecked.map(({ condition }) => nameOf(condition)[1] ?? text.another));
  const isUsable = unchecked.every(({ condition }) => condition === Condition.EXCLUSIVE);
  const doubt = unsaid.size === 0 ? '' : isUsable ? text.unlessCombined : text.notCertainReason;
  // The two amounts that are shown add up to the order's.
  const digits = currencyDigits();
  const discount = Number(discountAmount?.toFixed(digits));
  const rest = failed === undefined ? Number(orderAmount) - discount : Number.NaN;
  const shown = (amount: number) => (Number.isNaN(amount) ? undefined : formatAmount(amount, digits));
  // There, the uses of the customer are listed.
  const ofUser = isTaken && userId !== undefined ? `?user=${userId}` : '';
  return (
    <section className="card" aria-label={text.answer} role="status">
      <p>
        <Badge kind={failed ? 'bad' : doubt === '' ? 'good' : 'plain'}>
          {failed ? text.no : isUsable ? text.yes : text.notCertain}
        </Badge>{' '}
        <strong>{failed ? describe(failed) : doubt}</strong>
      </p>
      {hold !== undefined && <Link href={orderPath(hold.orderKey)}>{text.openOrder(isolate(hold.orderKey))}</Link>}
      {failed?.condition === Condition.NOT_FOUND && <OfReserved code={code} />}
      {unsaid.size > 0 && <p>{text.unsaid(new Intl.ListFormat('en').format(unsaid))}</p>}
      {isWhole && <p>{text.wholeOrder}</p>}
      {orderKey !== '' && <p>{text.keeps}</p>}
      <Facts
        rows={[
          [failed === undefined ? words.fields.discountAmount : text.discountIf, shown(discount)],
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
              {nameOf(each.condition)[0]} <span className="detail">{describe(each)}</span>
            </li>
          );
        })}
      </ul>
      {couponId !== undefined && <Link href={`/coupons/${couponId}${ofUser}`}>{text.open(code.toUpperCase())}</Link>}
      {couponId === undefined && code !== '' && (
        <Link href={`/coupons?search=${encodeURIComponent(code)}`}>{text.lookFor(code.toUpperCase())}</Link>
      )}
    </section>
  );
}

/** Returns the hold of a customer that frees a use of a coupon first, as it runs out; undefined while there is none. */
function useHold(couponId: number | undefined, userId: number | undefined): Redemption | undefined {
  const now = useNow(20_000);
  const isAsked = couponId !== undefined && userId !== undefined;
  const request = isAsked ? { couponId, userId, states: [RedemptionState.HELD], limit: 1_000 } : skipToken;
  const { data } = useQuery(RedemptionService.method.listRedemptions, request, { staleTime: 0 });
  const ends = ({ heldUntil }: Redemption) => (heldUntil === undefined ? 0 : timestampMs(heldUntil));
  return data?.redemptions.filter((each) => ends(each) > now).toSorted((a, b) => ends(a) - ends(b))[0];
}

/** Says why a code has no active coupon: it was invalidated, or is that of a reserved one. */
function OfReserved({ code }: { readonly code: string }) {
  const { data } = useQuery(CouponService.method.getReservedCoupons, { search: code, limit: 50 }, { staleTime: 0 });
  const all = useQuery(CouponService.method.getAll, { search: code, limit: 50 }, { staleTime: 0 });
  const isMeant = (found: string) => [code, code.toUpperCase()].includes(found);
  const reserved = data?.coupons.find(({ secretCode }) => isMeant(secretCode));
  const isInvalidated = all.data?.coupons.some((coupon) => coupon.isInvalidated && isMeant(coupon.couponCode));
  if (reserved === undefined)
    return data && all.data && <p>{isInvalidated ? text.invalidated : text.notFoundAdvice}</p>;
  const href = `/coupons/reserved?search=${encodeURIComponent(reserved.secretCode)}`;
  return (
    <p>
      <Link href={href}>{reserved.redeemedUser === undefined ? text.reserved : text.claimed(reserved.couponCode)}</Link>
    </p>
  );
}

/** Names a condition, and what has to be said of an order to check it. */
function nameOf(condition: Condition): readonly [name: string, unsaid?: string] {
  return text.names[Condition[condition]] ?? [text.another];
}

/** What is said of a condition. Without a reason for its failure, the service's own is shown. */
type Details = readonly [met: string, failed: string | false | undefined, unchecked?: string];

/** Says of each condition what is met or why it has failed, with amounts and dates as far as these are read. */
function detailsOf(
  { usesLeft, usesLeftForUser }: CheckResponse,
  { orderAmount, userId, productIds }: Asked,
  coupon: CouponDetail | undefined,
  hold: Redemption | undefined,
): Readonly<Partial<Record<Condition, Details>>> {
  const { startsAt, validTill, maxLimitForUser = 0, maxUses = 0 } = coupon ?? {};
  const [start, end] = [startsAt, validTill].map(formatTime);
  const minimum = Number(coupon?.minOrder ?? 0);
  const [least, short] = [minimum > 0 ? shortAmount(minimum) : '', minimum - Number(orderAmount)];
  const isForAll = coupon?.isApplyForAll || userId === undefined;
  const left = (count: number | undefined) => (count === undefined ? noLimit : text.left(count));
  return {
    [Condition.CODE_EMPTY]: [text.enterCode, text.enterCode],
    [Condition.NOT_FOUND]: [text.notFound, text.notFound],
    [Condition.EXPIRED]: [end ? text.until(end) : noEnd, end && text.expired(end)],
    [Condition.NOT_STARTED]: [start ? text.since(start) : '', start && text.startsOn(start)],
    [Condition.NOT_AVAILABLE]: ['', text.forNobody],
    [Condition.BELOW_MINIMUM]: [least || text.noMinimum, short > 0 && text.tooSmall(least, shortAmount(short)), least],
    [Condition.NOT_FOR_USER]: [isForAll ? text.forEveryone : text.forThis, text.notForCustomer],
    [Condition.NOT_FOR_PRODUCTS]: [productIds.length > 0 ? '' : words.coupon.allProducts, text.notForProducts],
    [Condition.EXCLUSIVE]: ['', text.notCombined],
    [Condition.LIMIT_REACHED]: [
      left(usesLeftForUser),
      hold === undefined
        ? maxLimitForUser > 0 && text.usedByCustomer(maxLimitForUser)
        : text.heldBy(isolate(hold.orderKey), formatTime(hold.heldUntil)),
    ],
    [Condition.USED_UP]: [left(usesLeft), maxUses > 0 && text.usedUp(maxUses)],
  };
}
