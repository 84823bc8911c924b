import { Code, ConnectError } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData, skipToken } from '@tanstack/react-query';
import { CatalogService } from '#gen/catalog/v1/catalog_service_pb';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { userSearch } from '../lookup/names.ts';
import { orderPath, readOrderKey, useOrder } from '../redemptions/order.ts';
import { stateOf } from '../redemptions/state.ts';
import { clock } from '../session/clock.ts';
import { slotTime } from '../slots/record/slot-state.tsx';
import { isolate, readId } from '../ui/text.ts';
import { words } from '../words.ts';

/** Something that the search has found: a page, or an action of the page on show. */
export interface Match {
  readonly name: string;
  readonly detail?: string;
  readonly href?: string;
  readonly run?: () => void;
}

const link = (href: string, name: string, detail = ''): Match => ({ href, name, detail });

const limit = 5;
const { frame, search: text } = words;

/** The pages that staff may go to, whatever page is on show. */
const pages: readonly Match[] = [
  ['/', frame.overview],
  ['/slots', words.slots.title],
  ['/coupons', words.coupons.title],
  ['/users', frame.customers],
  ['/live', frame.storefront],
  ['/audit', frame.activity],
  ...text.otherPages,
].map(([href = '', name = '']) => link(href, name));

/** Finds what a text may mean, and says what can't be searched now. Without a text, there are only the actions and the pages. */
export function useMatches(typed: string, actions: readonly Match[]) {
  const sought = readSought(typed);
  // As the page calls it, too.
  const id = readId(sought.replace(/^(slot\b|#)[\s#]*/i, ''));
  const orderKey = readOrderKey(sought.replace(/^order[\s:#]+/i, ''));
  const ask = (search: string) => (sought === '' ? skipToken : { search, limit });
  const option = { placeholderData: keepPreviousData };
  const snippets = useQuery(CatalogService.method.searchSnippets, ask(sought), option);
  const products = useQuery(CatalogService.method.searchProducts, ask(sought), option);
  const slot = useQuery(SlotService.method.getSlotById, id === undefined ? skipToken : { id });
  const coupons = useQuery(CouponService.method.getAll, ask(sought), option);
  const reserved = useQuery(CouponService.method.getReservedCoupons, ask(sought), option);
  const users = useQuery(CouponService.method.getUsersMiniInfo, ask(userSearch(sought)), option);
  const order = useOrder(orderKey);
  const [ofCoupon, ofSlot] = [order.redemption, order.booking].map((hold) => hold && stateOf(hold, clock.now())?.words);
  const ofOrder = text.ofOrder(ofCoupon, ofSlot);
  const { slot: ofId } = slot.data ?? {};
  const found = [
    {
      title: words.slots.title,
      queries: [snippets, products, slot],
      matches: [
        ...(ofId === undefined ? [] : [link(`/slots/${ofId.id}`, text.slot(ofId.id), slotTime(ofId))]),
        ...(snippets.data?.snippets ?? []).map(({ snippetCode, slotId }) =>
          link(`/slots/${slotId}`, text.slot(slotId), text.snippet(isolate(snippetCode))),
        ),
        ...(products.data?.products ?? []).map(({ id, name }) =>
          link(`/slots/list?product=${id}`, text.slotsWith(isolate(name)), text.product(id)),
        ),
      ],
    },
    {
      title: words.coupons.title,
      queries: [coupons, reserved],
      matches: [
        ...(coupons.data?.coupons ?? []).map(({ id, couponCode }) => link(`/coupons/${id}`, isolate(couponCode))),
        ...(reserved.data?.coupons ?? []).map(({ secretCode }) =>
          link(`/coupons/reserved?search=${encodeURIComponent(secretCode)}`, isolate(secretCode), text.reserved),
        ),
      ],
    },
    {
      title: text.orders,
      queries: [order],
      matches: orderKey && ofOrder ? [link(orderPath(orderKey), words.orders.titled(orderKey), ofOrder)] : [],
    },
    {
      title: frame.customers,
      queries: [users],
      matches: (users.data?.users ?? []).map(({ id, name, mobile }) => link(`/users/${id}`, isolate(name), mobile)),
    },
  ];
  const named = ({ name }: Match) => name.toLowerCase().includes(sought.toLowerCase());
  const ofPage = { title: words.actions, matches: actions.filter(named) };
  // Of an earlier text, something may still be there.
  const ofText = sought === '' ? [] : found;
  // Who enters a slot's number looks for the slot, and must not change it by Enter.
  const first = id === undefined ? [ofPage, ...ofText] : [...ofText, ofPage];
  const sections = [...first, { title: text.pages, matches: pages.filter(named) }];
  return {
    sections: sections.filter(({ matches }) => matches.length > 0),
    away: found.filter(({ queries }) => queries.some(isAway)).map(({ title }) => title),
    isSearching: found.some(({ queries }) => queries.some(({ isFetching }) => isFetching)),
  };
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
