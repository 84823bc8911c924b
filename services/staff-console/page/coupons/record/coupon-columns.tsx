import { Link } from 'react-aria-components/Link';
import type { ListedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { byText, type Column } from '../../lists/column.ts';
import { isolate } from '../../ui/text.ts';
import { createdColumn, termsColumns } from './terms-columns.tsx';
import { CouponBadge } from './validity.tsx';
import { describeAudience, stateOf } from './words.ts';

/** Returns the columns of a list of coupons, at a time in Unix ms. With those of the usage, only a file has the creation. */
export function couponColumns(now: number, usage?: readonly Column<ListedCoupon>[]): readonly Column<ListedCoupon>[] {
  // A link to a user who was deleted has no user.
  const usersLeft = ({ applicableUsers, applicableUsersCount }: ListedCoupon) =>
    applicableUsersCount - applicableUsers.filter(({ user }) => user === undefined).length;
  const audience = (coupon: ListedCoupon) => describeAudience(coupon, usersLeft(coupon));
  const state = stateColumn(now);
  return [
    codeColumn,
    ...termsColumns,
    {
      title: 'For whom',
      className: 'words',
      text: audience,
      compare: (a, b) => byText(audience(a), audience(b)),
    },
    ...(usage === undefined
      ? [state, createdColumn]
      : [...usage, { ...state, file: [state, ...(createdColumn.file ?? [])] }]),
  ];
}

/** The column of a coupon's code, which leads to the coupon. */
export const codeColumn: Column<{ readonly id: number; readonly couponCode: string }> = {
  title: 'Code',
  show: ({ id, couponCode }) => <Link href={`/coupons/${id}`}>{isolate(couponCode)}</Link>,
  text: ({ couponCode }) => couponCode,
  compare: (a, b) => byText(a.couponCode, b.couponCode),
  className: 'coupon-code',
};

/** Returns the column that says whether a coupon can be used, at a time in Unix ms. */
export function stateColumn(now: number): Column<Parameters<typeof stateOf>[0]> {
  return {
    title: 'State',
    show: (coupon) => <CouponBadge coupon={coupon} now={now} />,
    text: (coupon) => stateOf(coupon, now),
    compare: (a, b) => byText(stateOf(a, now), stateOf(b, now)),
  };
}
