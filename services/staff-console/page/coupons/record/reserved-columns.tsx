import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import type { ListedReservedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { trailAddress } from '../../audit/trail/filters.ts';
import { byText, type Column } from '../../lists/column.ts';
import { describeUser, isGone } from '../../lookup/gone.ts';
import { Badge } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { createdColumn, termsColumns } from './terms-columns.tsx';
import { stateOf } from './words.ts';

const text = words.coupons.reserved;

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
      title: text.secretCode,
      show: ({ id, secretCode }) => (
        <Link href={trailAddress({ type: 'reserved_coupon', id: String(id) })}>{isolate(secretCode)}</Link>
      ),
      text: ({ secretCode }) => secretCode,
      compare: (a, b) => byText(a.secretCode, b.secretCode),
      className: 'code',
    },
    {
      title: words.coupon.terms.code,
      show: ({ couponCode }) => isolate(couponCode),
      text: ({ couponCode }) => couponCode,
      className: 'code',
    },
    ...termsColumns,
    {
      title: text.claimedBy,
      show: (coupon) =>
        coupon.redeemedUser === undefined ? (
          (stateOf(coupon, now) !== 'expired' && claim?.(coupon)) || text.nobodyYet
        ) : isGone(coupon.redeemedUser) ? (
          claimantOf(coupon)
        ) : (
          <Link href={`/users/${coupon.redeemedUser.id}`}>
            <span title={coupon.redeemedUser.mobile}>{isolate(coupon.redeemedUser.name || words.lookup.unnamed)}</span>
          </Link>
        ),
      text: claimantOf,
      file: [
        { title: text.claimedBy, text: (coupon) => coupon.redeemedUser?.name ?? claimantOf(coupon) },
        { title: text.mobile, text: ({ redeemedUser }) => redeemedUser?.mobile ?? '' },
      ],
      compare: (a, b) => byText(claimantOf(a), claimantOf(b)),
    },
    {
      title: words.coupons.state,
      show: (coupon) => {
        const state = reservedState(coupon, now);
        return <Badge kind={state === text.notClaimed ? 'good' : 'plain'}>{state}</Badge>;
      },
      text: (coupon) => reservedState(coupon, now),
      compare: (a, b) => byText(reservedState(a, now), reservedState(b, now)),
    },
    createdColumn,
  ];
}

function claimantOf({ redeemedUser }: ListedReservedCoupon): string {
  if (redeemedUser === undefined) return '';
  return isGone(redeemedUser) ? text.deleted : describeUser(redeemedUser);
}

/** Returns in a word whether a reserved coupon was claimed or, if not, whether it can be. */
export function reservedState(coupon: ListedReservedCoupon, now: number): string {
  if (coupon.redeemedUser !== undefined) return text.claimed;
  const state = stateOf(coupon, now);
  return state === 'active' ? text.notClaimed : words.coupons.states[state];
}
