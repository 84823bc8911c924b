import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData, skipToken } from '@tanstack/react-query';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { userSearch } from '../lookup/user-search.ts';
import { orderPath, readOrderKey } from '../redemptions/order-key.ts';
import { stateOf } from '../redemptions/state.ts';
import { useOrder } from '../redemptions/use-order.ts';
import { clock } from '../session/clock.ts';
import { isolate, readId } from '../ui/text.ts';

/** Something that the search has found. */
export interface Match {
  readonly key: string;
  readonly name: string;
  readonly detail?: string;
  /** The path of its page; undefined for an action that is no link. */
  readonly href?: string;
  readonly run?: () => void;
}

/** The matches of one kind. */
interface MatchSection {
  readonly title: string;
  readonly matches: readonly Match[];
}

const limit = 5;

/** The pages that staff may go to, whatever page is on show. */
const pages: readonly Match[] = [
  ['/slots', 'Slots: the calendar'],
  ['/slots/list', 'Slots: the list'],
  ['/slots/new', 'New slot'],
  ['/coupons', 'Coupons'],
  ['/coupons/new', 'New coupon'],
  ['/coupons/refund', 'Refund for an order'],
  ['/coupons/phone', 'Coupon for a mobile number'],
  ['/coupons/reserved', 'Reserved coupons'],
  ['/coupons/reserved/new', 'New reserved coupon'],
  ['/coupons/batches', 'Many codes'],
  ['/coupons/batches/new', 'New batch of codes'],
  ['/check', 'Check a coupon'],
  ['/users', 'Users'],
  ['/live', 'Live: what customers can choose'],
  ['/audit', 'Audit trail'],
].map(([href = '', name = '']) => ({ key: href, name, href }));

/** Finds what a text may mean. Without a text, there are only the actions and the pages. */
export function useMatches(text: string, actions: readonly Match[]) {
  const sought = readSought(text);
  const option = { placeholderData: keepPreviousData };
  const asked = <Request>(request: Request) => (sought === '' ? skipToken : request);
  // As the page calls it, too.
  const id = readId(sought.replace(/^(slot\b|#)[\s#]*/i, ''));
  const orderKey = readOrderKey(sought);
  const queries = {
    snippets: useQuery(CatalogService.method.searchSnippets, asked({ search: sought, limit }), option),
    products: useQuery(CatalogService.method.searchProducts, asked({ search: sought, limit }), option),
    coupons: useQuery(CouponService.method.getAll, asked({ search: sought, limit }), option),
    reserved: useQuery(CouponService.method.getReservedCoupons, asked({ search: sought, limit }), option),
    users: useQuery(CouponService.method.getUsersMiniInfo, asked({ search: userSearch(sought), limit }), option),
    slot: useQuery(SlotService.method.getSlotById, id === undefined ? skipToken : { id }),
    order: useOrder(orderKey),
  };
  const named = (match: Match) => match.name.toLowerCase().includes(sought.toLowerCase());
  const slot: Match[] =
    queries.slot.data === undefined ? [] : [{ key: 'slot', name: `Slot ${id}`, href: `/slots/${id}` }];
  // Of an earlier text, something may still be there.
  const dataOf = <Data>({ data }: { readonly data: Data | undefined }) => (sought === '' ? undefined : data);
  const ofPage = { title: 'Actions', matches: actions.filter(named) };
  const sections: readonly MatchSection[] = [
    // Who enters a slot's number looks for the slot, and must not change it by Enter.
    ...(id === undefined ? [ofPage] : []),
    {
      title: 'Slots',
      matches: [
        ...slot,
        ...(dataOf(queries.snippets)?.snippets ?? []).map(({ snippetCode, slotId }) => ({
          key: `snippet ${snippetCode}`,
          name: `Slot ${slotId}`,
          detail: `snippet ${isolate(snippetCode)}`,
          href: `/slots/${slotId}`,
        })),
        ...(dataOf(queries.products)?.products ?? []).map(({ id, name }) => ({
          key: `product ${id}`,
          name: `Slots with ${isolate(name)}`,
          detail: `product ${id}`,
          href: `/slots/list?product=${id}`,
        })),
      ],
    },
    {
      title: 'Coupons',
      matches: [
        ...(dataOf(queries.coupons)?.coupons ?? []).map(({ id, couponCode }) => ({
          key: `coupon ${id}`,
          name: isolate(couponCode),
          href: `/coupons/${id}`,
        })),
        ...(dataOf(queries.reserved)?.coupons ?? []).map(({ id, secretCode }) => ({
          key: `reserved ${id}`,
          name: isolate(secretCode),
          detail: 'reserved',
          href: `/coupons/reserved?search=${encodeURIComponent(secretCode)}`,
        })),
      ],
    },
    {
      title: 'Orders',
      matches: orderKey === undefined ? [] : describeOrder(orderKey, queries.order),
    },
    {
      title: 'Users',
      matches: (dataOf(queries.users)?.users ?? []).map(({ id, name, mobile }) => ({
        key: `user ${id}`,
        name: isolate(name),
        detail: mobile,
        href: `/users/${id}`,
      })),
    },
    ...(id === undefined ? [] : [ofPage]),
    { title: 'Pages', matches: pages.filter(named) },
  ];
  return { sections, isSearching: Object.values(queries).some(({ isFetching }) => isFetching) };
}

/** Returns the order that has the number; none if nothing was redeemed or booked for it. */
function describeOrder(orderKey: string, { redemption, booking }: ReturnType<typeof useOrder>): Match[] {
  const now = clock.now();
  const coupon = redemption && `coupon ${stateOf(redemption, now)?.words.toLowerCase()}`;
  const slot = booking && `slot ${stateOf(booking, now)?.words.toLowerCase()}`;
  const detail = [coupon, slot].filter(Boolean).join(', ');
  return detail === '' ? [] : [{ key: 'order', name: `Order ${orderKey}`, detail, href: orderPath(orderKey) }];
}

/** Returns what to search for: the text without its white space, or the snippet's code in a vendor's link. */
function readSought(text: string): string {
  const trimmed = text.trim();
  const link = URL.canParse(trimmed) ? new URL(trimmed).searchParams.get('id') : null;
  return (link ?? trimmed).slice(0, 200);
}
