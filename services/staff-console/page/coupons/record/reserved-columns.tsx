import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import type { ListedReservedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { trailAddress } from '../../audit/trail/filters.ts';
import { byText, type Column } from '../../lists/column.ts';
import { describeUser, isGone } from '../../lookup/gone.ts';
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
          <>Nobody yet {stateOf(coupon, now) !== 'Expired' && claim?.(coupon)}</>
        ) : isGone(coupon.redeemedUser) ? (
          claimantOf(coupon)
        ) : (
          <Link href={`/users/${coupon.redeemedUser.id}`}>{claimantOf(coupon)}</Link>
        ),
      text: claimantOf,
      file: [
        { title: 'Redeemed by', text: (coupon) => coupon.redeemedUser?.name ?? claimantOf(coupon) },
        { title: 'Mobile number', text: ({ redeemedUser }) => redeemedUser?.mobile ?? '' },
      ],
      compare: (a, b) => byText(claimantOf(a), claimantOf(b)),
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

function claimantOf({ redeemedUser }: ListedReservedCoupon): string {
  if (redeemedUser === undefined) return '';
  return isGone(redeemedUser) ? 'A user who was deleted' : describeUser(redeemedUser);
}

/** Returns whether a reserved coupon was redeemed or, if not, whether it can be. */
export function reservedState(coupon: ListedReservedCoupon, now: number): string {
  return coupon.redeemedUser === undefined ? stateOf(coupon, now) : 'Redeemed';
}
