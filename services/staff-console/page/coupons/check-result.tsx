import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  CouponService,
  type ValidateResponse,
  ValidationRefusal,
} from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { Badge, Facts } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { describeDiscount } from './record/words.ts';

interface CheckResultProps {
  readonly answer: ValidateResponse;
  /** The coupon code and the order amount that staff entered. */
  readonly code: string;
  readonly orderAmount: number;
}

/** Shows how much a coupon takes off an order, or why it can't be used. */
export function CheckResult(props: CheckResultProps): ReactNode {
  return (
    <section className="card" aria-label="Answer" role="status">
      {props.answer.valid ? <Accepted {...props} /> : <Refused {...props} />}
    </section>
  );
}

function Accepted({ answer: { discountAmount = 0, coupon }, code, orderAmount }: CheckResultProps): ReactNode {
  const digits = Math.max(currencyDigits(), digitsOf(orderAmount));
  // The two amounts that are shown add up to the order's.
  const discount = Number(discountAmount.toFixed(digits));
  const rest = Math.max(0, orderAmount - discount);
  return (
    <>
      <p>
        <Badge kind="good">Can be used</Badge>
      </p>
      <Facts
        rows={[
          ['Discount', formatAmount(discount, digits)],
          ['The order then costs', formatAmount(rest, digits)],
          ['The coupon gives', coupon && describeDiscount(coupon)],
        ]}
      />
      {coupon !== undefined && <OnlyFor id={coupon.id} />}
      {discountAmount > orderAmount && <p>The discount is more than the order. The rest of it is lost.</p>}
      {coupon !== undefined && <Link href={`/coupons/${coupon.id}`}>Open coupon {code.toUpperCase()}</Link>}
    </>
  );
}

/** Names the users and products that a coupon is for, since the check knows neither of an order (spec 4.2). */
function OnlyFor({ id }: { readonly id: number }): ReactNode {
  const coupon = useQuery(CouponService.method.getById, { id }).data?.coupon;
  if (coupon === undefined) return null;
  const { isApplyForAll, applicableUsers, applicableProducts } = coupon;
  const users = isApplyForAll
    ? []
    : applicableUsers.map(({ name, mobile }) => `${isolate(name || 'Unknown')}, ${mobile}`);
  return (
    <>
      {users.length > 0 && <p>Only for these users, which is not checked here: {firstOf(users)}.</p>}
      {applicableProducts.length > 0 && (
        <p>
          Only for these products, which is not checked here: {firstOf(applicableProducts.map(({ name }) => name))}.
        </p>
      )}
    </>
  );
}

const namedMost = 5;

function firstOf(names: readonly string[]): string {
  const rest = names.length - namedMost;
  return names.slice(0, namedMost).join('; ') + (rest > 0 ? ` and ${rest} more` : '');
}

function Refused({ answer, code, orderAmount }: CheckResultProps): ReactNode {
  return (
    <>
      <p>
        <Badge kind="bad">Can’t be used</Badge> <strong>{answer.message}</strong>
      </p>
      <p>{explain(answer, code, orderAmount)}</p>
      {code !== '' && (
        <Link href={`/coupons?search=${encodeURIComponent(code)}`}>Look for {code} among the coupons</Link>
      )}
    </>
  );
}

function explain({ refusal, minOrder }: ValidateResponse, code: string, orderAmount: number): string {
  switch (refusal) {
    case ValidationRefusal.CODE_EMPTY:
      return 'Enter the code of the coupon.';
    case ValidationRefusal.NOT_FOUND:
      return `No coupon has exactly the code ${code.toUpperCase()}, or it was invalidated. One that was stored in lower case is never found.`;
    case ValidationRefusal.EXPIRED:
      return 'The time until which it could be used has passed.';
    case ValidationRefusal.NOT_AVAILABLE:
      return 'It is for nobody yet: edit it, and say for whom it is.';
    case ValidationRefusal.BELOW_MINIMUM:
      return `The order has to come to ${formatAmount(minOrder ?? '')}: ${formatAmount(missing(Number(minOrder), orderAmount))} more.`;
    default:
      return '';
  }
}

/** Returns how many digits an amount has after the point. */
function digitsOf(amount: number): number {
  return (String(amount).split('.')[1] ?? '').length;
}

/** Returns what an order lacks, without the digits that binary fractions leave. */
function missing(minOrder: number, orderAmount: number): number {
  return Number((minOrder - orderAmount).toFixed(Math.min(20, Math.max(digitsOf(minOrder), digitsOf(orderAmount)))));
}
