import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import type { ListedReservedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { trailAddress } from '../../audit/trail/filters.ts';
import { byText, type Column } from '../../lists/column.ts';
import { Badge } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { createdColumn, termsColumns } from './terms-columns.tsx';
import { CouponBadge } from './validity.tsx';
import { stateOf } from './words.ts';

/**
 * Returns the columns of a list of reserved coupons, at a time in Unix ms.
 *
 * @param claim returns the button that claims one that can be claimed.
 */
export function reservedColumns(
  now: number,
  claim?: (coupon: ListedReservedCoupon) => ReactNode,
): readonly Column<ListedReservedCoupon>[] {
  const claimant = ({ redeemedUser }: ListedReservedCoupon) =>
    redeemedUser === undefined ? '' : `${isolate(redeemedUser.name || 'Unknown')}, ${redeemedUser.mobile}`;
  return [
    {
      title: 'Secret code',
      show: ({ id, secretCode }) => (
        <Link href={trailAddress({ type: 'reserved_coupon', id: String(id) })}>{isolate(secretCode)}</Link>
      ),
      text: ({ secretCode }) => secretCode,
      compare: (a, b) => byText(a.secretCode, b.secretCode),
      className: 'coupon-code',
    },
    {
      title: 'Code',
      show: ({ couponCode }) => isolate(couponCode),
      text: ({ couponCode }) => couponCode,
      className: 'coupon-code',
    },
    ...termsColumns,
    {
      title: 'Redeemed by',
      show: (coupon) =>
        coupon.redeemedUser === undefined ? (
          <>Nobody yet {stateOf(coupon, now) === 'Valid' && claim?.(coupon)}</>
        ) : (
          <Link href={`/users/${coupon.redeemedUser.id}`}>{claimant(coupon)}</Link>
        ),
      text: claimant,
      compare: (a, b) => byText(claimant(a), claimant(b)),
    },
    {
      title: 'State',
      show: (coupon) =>
        reservedState(coupon, now) === 'Redeemed' ? (
          <Badge kind="plain">Redeemed</Badge>
        ) : (
          <CouponBadge coupon={coupon} now={now} />
        ),
      text: (coupon) => reservedState(coupon, now),
      compare: (a, b) => byText(reservedState(a, now), reservedState(b, now)),
    },
    createdColumn,
  ];
}

/** Returns whether a reserved coupon was redeemed or, if not, whether it can be. */
export function reservedState(coupon: ListedReservedCoupon, now: number): string {
  return coupon.redeemedUser === undefined ? stateOf(coupon, now) : 'Redeemed';
}
