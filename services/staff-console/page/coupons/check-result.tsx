import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  type CouponDetail,
  CouponService,
  type ValidateResponse,
  ValidationRefusal,
} from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { describeUser } from '../lookup/gone.ts';
import { useProductNames } from '../lookup/names.ts';
import { Badge, Facts } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { productsOf, usersLeft } from './record/draft.ts';
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

/** A coupon that Validate accepts. Whether anybody can redeem it, only the coupon itself tells. */
function Accepted(props: CheckResultProps): ReactNode {
  const id = props.answer.coupon?.id ?? 0;
  const query = useQuery(CouponService.method.getById, { id }, { refetchOnMount: 'always' });
  const coupon = query.isFetchedAfterMount ? query.data?.coupon : undefined;
  return (
    <Read query={{ ...query, data: coupon }} what="the coupon">
      {(read) =>
        read.isApplyForAll || usersLeft(read) > 0 ? (
          <Usable {...props} coupon={read} />
        ) : (
          <>
            <p>
              <Badge kind="bad">Can’t be used</Badge> <strong>For nobody: no one can redeem it</strong>
            </p>
            <p>It has no users, or they were deleted. Edit it, and say for whom it is.</p>
            <CouponLink coupon={read} />
          </>
        )
      }
    </Read>
  );
}

function CouponLink({ coupon: { id, couponCode } }: { readonly coupon: CouponDetail }): ReactNode {
  return <Link href={`/coupons/${id}`}>Open coupon {couponCode}</Link>;
}

function Usable({
  answer: { discountAmount = 0, coupon: used },
  orderAmount,
  coupon,
}: CheckResultProps & { readonly coupon: CouponDetail }): ReactNode {
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
          ['The coupon gives', used && describeDiscount(used)],
        ]}
      />
      <NotChecked coupon={coupon} />
      {discountAmount > orderAmount && <p>The discount is more than the order. The rest of it is lost.</p>}
      <CouponLink coupon={coupon} />
    </>
  );
}

/** Says what else Redeem asks for: the check knows neither the user of an order, nor its products, nor other coupons. */
function NotChecked({ coupon }: { readonly coupon: CouponDetail }): ReactNode {
  const { isApplyForAll, applicableUsers, maxLimitForUser: limit = 0, exclusiveApply } = coupon;
  const users = isApplyForAll ? [] : applicableUsers.map(describeUser);
  const products = productsOf(coupon);
  const unnamed = products.slice(0, namedMost).filter(({ name }) => name === '');
  const nameOf = useProductNames(unnamed.map(({ id }) => id));
  const uses = limit === 1 ? 'Once for each user' : `${limit} times for each user`;
  const limits = [...(limit > 0 ? [uses] : []), ...(exclusiveApply ? ['Not with other coupons'] : [])];
  return (
    <>
      {limits.length === 1 && <p>{limits[0]}, which is not checked here.</p>}
      {limits.length === 2 && <p>{uses}, and not with other coupons: neither is checked here.</p>}
      {users.length > 0 && <p>Only for these users, which is not checked here: {firstOf(users)}.</p>}
      {products.length > 0 && (
        <p>
          Only for these products, which is not checked here:{' '}
          {firstOf(products.map(({ id, name }) => name || nameOf(id)))}.
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
