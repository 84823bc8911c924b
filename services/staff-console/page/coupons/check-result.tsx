import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { type ValidateResponse, ValidationRefusal } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { Badge, Facts } from '../ui/page.tsx';
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
  return (
    <>
      <p>
        <Badge kind="good">Can be used</Badge>
      </p>
      <Facts
        rows={[
          ['Discount', inCents(discountAmount)],
          ['The order then costs', inCents(Math.max(0, orderAmount - discountAmount))],
          ['The coupon gives', coupon && describeDiscount(coupon)],
        ]}
      />
      {coupon !== undefined && <Link href={`/coupons/${coupon.id}`}>Open coupon {code.toUpperCase()}</Link>}
    </>
  );
}

function Refused({ answer, code, orderAmount }: CheckResultProps): ReactNode {
  return (
    <>
      <p>
        <Badge kind="bad">Can’t be used</Badge> <strong>{answer.message}</strong>
      </p>
      <p>{explain(answer, orderAmount)}</p>
      {code !== '' && (
        <Link href={`/coupons?search=${encodeURIComponent(code)}`}>Look for {code} among the coupons</Link>
      )}
    </>
  );
}

function explain({ refusal, minOrder }: ValidateResponse, orderAmount: number): string {
  switch (refusal) {
    case ValidationRefusal.CODE_EMPTY:
      return 'Enter the code of the coupon.';
    case ValidationRefusal.NOT_FOUND:
      return 'No coupon has this code in capital letters, or it was invalidated.';
    case ValidationRefusal.EXPIRED:
      return 'The time until which it could be used has passed.';
    case ValidationRefusal.NOT_AVAILABLE:
      return 'It is for nobody yet: edit it, and say for whom it is.';
    case ValidationRefusal.BELOW_MINIMUM:
      return `The order has to come to ${minOrder}: ${inCents(Number(minOrder) - orderAmount)} more.`;
    default:
      return '';
  }
}

const twoDigits = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

/** Rounds an amount for display, to drop the digits that percentages and binary fractions leave. */
function inCents(amount: number): string {
  return twoDigits.format(amount);
}
