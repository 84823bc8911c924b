import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { useCouponCodes } from '../lookup/names.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { Bookings } from './bookings.tsx';
import { Redemptions } from './redemptions.tsx';
import { useOrder } from './use-order.ts';

/** Shows an order by its number: its redemptions of coupons, and its bookings of slots. */
export function Component(): ReactNode {
  const { key: orderKey = '' } = useParams();
  const { redemption, booking } = useOrder(orderKey);
  const couponId = redemption?.couponId;
  const code = useCouponCodes(couponId === undefined ? [] : [couponId]).get(couponId ?? 0);
  const userId = redemption?.userId ?? booking?.userId;
  const known = { order: orderKey, ...(userId && { user: String(userId) }), ...(code !== undefined && { code }) };
  return (
    <Page
      title={`Order ${isolate(orderKey)}`}
      actions={<ButtonLink href={`/check?${new URLSearchParams(known)}`}>Check a coupon</ButtonLink>}
    >
      <Redemptions orderKey={orderKey} />
      <Bookings orderKey={orderKey} />
    </Page>
  );
}
