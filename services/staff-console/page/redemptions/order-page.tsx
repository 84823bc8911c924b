import { useSearchParams } from 'react-router';
import { ButtonLink } from '../ui/button.tsx';
import { NoSuchPage, Page } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { Bookings } from './bookings.tsx';
import { readOrderKey, useOrder } from './order.ts';
import { Redemptions } from './redemptions.tsx';

/** Shows an order by its number: its redemptions of coupons, and its bookings of slots. */
export function Component() {
  const key = useSearchParams()[0].get('key') ?? '';
  const orderKey = readOrderKey(key);
  const { redemption, booking } = useOrder(orderKey);
  if (orderKey !== key) return <NoSuchPage />;
  const userId = redemption?.userId ?? booking?.userId;
  const known = { order: orderKey, ...(userId && { user: String(userId) }) };
  return (
    <Page
      title={words.orders.titled(isolate(orderKey))}
      actions={
        <>
          <ButtonLink href={`/coupons/refund?${new URLSearchParams(known)}`}>{words.coupon.refund.short}</ButtonLink>
          <ButtonLink href={`/check?${new URLSearchParams(known)}`}>{words.check.title}</ButtonLink>
        </>
      }
    >
      <Redemptions orderKey={orderKey} />
      <Bookings orderKey={orderKey} />
    </Page>
  );
}
