import { Link } from 'react-aria-components/Link';
import type { ListedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { byText, type Column } from '../../lists/column.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { createdColumn, termsColumns } from './terms-columns.tsx';
import type { useUsageColumns } from './usage-columns.tsx';
import { CouponBadge } from './validity.tsx';
import { describeAudience, stateOf } from './words.ts';

const { states, state: stateTitle } = words.coupons;
const { terms, code } = words.coupon;

/** Returns the columns of a list of coupons, at a time in Unix ms, with those of their usage if it is given. */
export function couponColumns(
  now: number,
  usage?: ReturnType<typeof useUsageColumns>,
): readonly Column<ListedCoupon>[] {
  const [discount, minOrder, ends] = termsColumns;
  return [
    codeColumn,
    discount,
    minOrder,
    audienceColumn,
    ends,
    ...(usage?.columns ?? []),
    stateColumn(now, usage?.usedOf),
    createdColumn,
  ];
}

// A link to a customer who was deleted has no user.
const audienceOf = (coupon: ListedCoupon) =>
  describeAudience(
    coupon,
    coupon.applicableUsersCount - coupon.applicableUsers.filter(({ user }) => user === undefined).length,
  );

const audienceColumn: Column<ListedCoupon> = {
  title: terms.customers,
  text: audienceOf,
  compare: (a, b) => byText(audienceOf(a), audienceOf(b)),
  className: 'name',
};

/** The column of a coupon's code, which leads to the coupon, in one line. */
export const codeColumn: Column<{ readonly id: number; readonly couponCode: string }> = {
  title: terms.code,
  show: ({ id, couponCode }) => (
    <span className="code-cell">
      <Link className="one-line" href={`/coupons/${id}`}>
        {isolate(couponCode)}
      </Link>
      <CopyButton isIcon what={code} text={couponCode} name={couponCode} />
    </span>
  ),
  text: ({ couponCode }) => couponCode,
  compare: (a, b) => byText(a.couponCode, b.couponCode),
  className: 'code',
};

/**
 * Returns the column that says whether a coupon can be used, at a time in Unix ms.
 *
 * @param usedOf returns how often it was used, as far as that is read.
 */
export function stateColumn<Row extends Parameters<typeof stateOf>[0]>(
  now: number,
  usedOf: (coupon: Row) => number | undefined = () => undefined,
): Column<Row> {
  const text = (coupon: Row) => states[stateOf(coupon, now, usedOf(coupon))];
  return {
    title: stateTitle,
    show: (coupon) => <CouponBadge coupon={coupon} now={now} used={usedOf(coupon)} />,
    text,
    compare: (a, b) => byText(text(a), text(b)),
  };
}
