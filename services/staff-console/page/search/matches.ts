import { Code, ConnectError } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData, skipToken } from '@tanstack/react-query';
import { CatalogService } from '#gen/catalog/v1/catalog_service_pb';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { userSearch } from '../lookup/user-search.ts';
import { stateOf } from '../redemptions/holds.tsx';
import { orderPath, readOrderKey, useOrder } from '../redemptions/order.ts';
import { clock } from '../session/clock.ts';
import { slotTime } from '../slots/record/slot-time.ts';
import { isolate, readId } from '../ui/text.ts';
import { words } from '../words.ts';

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

const { frame, search: text } = words;

/** The pages that staff may go to, whatever page is on show. */
const pages: readonly Match[] = [
  ['/', frame.overview],
  ['/slots', frame.slots],
  ['/coupons', frame.coupons],
  ['/users', frame.customers],
  ['/live', frame.storefront],
  ['/audit', frame.activity],
  ...text.otherPages,
].map(([href = '', name = '']) => ({ key: href, name, href }));

/** Finds what a text may mean, and says what can't be searched now. Without a text, there are only the actions and the pages. */
export function useMatches(typed: string, actions: readonly Match[]) {
  const sought = readSought(typed);
  const option = { placeholderData: keepPreviousData };
  const asked = <Request>(request: Request) => (sought === '' ? skipToken : request);
  // As the page calls it, too.
  const id = readId(sought.replace(/^(slot\b|#)[\s#]*/i, ''));
  const orderKey = readOrderKey(sought.replace(/^order[\s:#]+/i, ''));
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
  const { slot: found } = queries.slot.data ?? {};
  const slot =
    found === undefined
      ? []
      : [{ key: 'slot', name: text.slot(found.id), detail: slotTime(found), href: `/slots/${found.id}` }];
  // Of an earlier text, something may still be there.
  const dataOf = <Data>({ data }: { readonly data: Data | undefined }) => (sought === '' ? undefined : data);
  const ofPage = { title: text.actions, matches: actions.filter(named) };
  const sections: readonly MatchSection[] = [
    // Who enters a slot's number looks for the slot, and must not change it by Enter.
    ...(id === undefined ? [ofPage] : []),
    {
      title: frame.slots,
      matches: [
        ...slot,
        ...(dataOf(queries.snippets)?.snippets ?? []).map(({ snippetCode, slotId }) => ({
          key: `snippet ${snippetCode}`,
          name: text.slot(slotId),
          detail: text.snippet(isolate(snippetCode)),
          href: `/slots/${slotId}`,
        })),
        ...(dataOf(queries.products)?.products ?? []).map(({ id, name }) => ({
          key: `product ${id}`,
          name: text.slotsWith(isolate(name)),
          detail: text.product(id),
          href: `/slots/list?product=${id}`,
        })),
      ],
    },
    {
      title: frame.coupons,
      matches: [
        ...(dataOf(queries.coupons)?.coupons ?? []).map(({ id, couponCode }) => ({
          key: `coupon ${id}`,
          name: isolate(couponCode),
          href: `/coupons/${id}`,
        })),
        ...(dataOf(queries.reserved)?.coupons ?? []).map(({ id, secretCode }) => ({
          key: `reserved ${id}`,
          name: isolate(secretCode),
          detail: text.reserved,
          href: `/coupons/reserved?search=${encodeURIComponent(secretCode)}`,
        })),
      ],
    },
    {
      title: text.orders,
      matches: orderKey === undefined ? [] : describeOrder(orderKey, queries.order),
    },
    {
      title: frame.customers,
      matches: (dataOf(queries.users)?.users ?? []).map(({ id, name, mobile }) => ({
        key: `user ${id}`,
        name: isolate(name),
        detail: mobile,
        href: `/users/${id}`,
      })),
    },
    ...(id === undefined ? [] : [ofPage]),
    { title: text.pages, matches: pages.filter(named) },
  ];
  const { snippets, products, coupons, reserved, users, order } = queries;
  const away = [
    ...(isAway(snippets) || isAway(products) || isAway(queries.slot) ? [frame.slots] : []),
    ...(isAway(coupons) || isAway(reserved) ? [frame.coupons] : []),
    ...(isAway(order) ? [text.orders] : []),
    ...(isAway(users) ? [frame.customers] : []),
  ];
  return { sections, away, isSearching: Object.values(queries).some(({ isFetching }) => isFetching) };
}

/** Returns the order that has the number; none if nothing was redeemed or booked for it. */
function describeOrder(orderKey: string, { redemption, booking }: ReturnType<typeof useOrder>): Match[] {
  const now = clock.now();
  const detail = text.ofOrder(redemption && stateOf(redemption, now)?.words, booking && stateOf(booking, now)?.words);
  return detail === ''
    ? []
    : [{ key: 'order', name: words.orders.titled(orderKey), detail, href: orderPath(orderKey) }];
}

/** Whether a search has failed. That there is no such record is an answer. */
const isAway = ({ error }: { readonly error: unknown }) =>
  error !== null && ConnectError.from(error).code !== Code.NotFound;

/** Returns what to search for: the text without its white space, or the snippet's code in a vendor's link. */
function readSought(text: string): string {
  const trimmed = text.trim();
  const link = URL.canParse(trimmed) ? new URL(trimmed).searchParams.get('id') : null;
  return (link ?? trimmed).slice(0, 200);
}
