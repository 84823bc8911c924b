import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { useSearchParams } from 'react-router';
import { type OpenSlot, SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { Time, timeLeft, timeSince, useNow } from '../business/time.tsx';
import type { Column } from '../lists/column.tsx';
import { withFilters } from '../lists/filters.ts';
import { ListTable } from '../lists/list-table.tsx';
import { useProductNames } from '../lookup/names.ts';
import { ProductPicker } from '../lookup/pickers.tsx';
import { slotTime } from '../slots/record/slot-state.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Badge, Empty, Facts, Page, Read, Section } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { useStoreVersion } from './follow-store.tsx';

const text = words.storefront;
const { getOpenSlots, getProductSlots, getStoreStatus } = SlotStoreService.method;
// A page with more slots at once would be slow, and nobody would read it.
const shownAtOnce = 100;
const namedProducts = 3;

/** Shows what the storefront shows at this moment, from the derived stores (design 4). */
export function Component() {
  const { latest, connection } = useStoreVersion();
  const isLive = connection === 'live';
  const isLost = connection === 'lost' || (!isLive && latest !== undefined);
  // A different replica than the stream's may answer, and may be a moment behind.
  const query = useQuery(
    getOpenSlots,
    {},
    { refetchInterval: ({ state: { data } }) => (data && latest && data.version < latest.version ? 1_000 : false) },
  );
  return (
    <Page
      title={words.frame.storefront}
      beside={
        <p role="status">
          {isLive && <Badge kind="good">{text.upToDate}</Badge>}
          {isLost && <Badge kind="bad">{text.reconnecting}</Badge>} {isLost && text.outOfDate}
          {!isLive && !isLost && <Badge kind="plain">{text.connecting}</Badge>}
        </p>
      }
    >
      <p>{text.now}</p>
      <StoreState published={latest?.refreshedAt} />
      <div className="split">
        <div>
          <Section title={text.openSlots}>
            <Read query={query} what={text.theOpenSlots}>
              {({ slots }) => (
                <OpenSlots slots={slots}>
                  {text.noneOpen}
                  <ButtonLink href="/slots/new">{words.slots.newSlot}</ButtonLink>
                </OpenSlots>
              )}
            </Read>
          </Section>
        </div>
        <aside>
          <ProductSlots />
        </aside>
      </div>
    </Page>
  );
}

/** Shows when the storefront was last updated, and how many changes it does not show yet. */
function StoreState({ published }: { readonly published: Timestamp | undefined }) {
  const now = useNow(1_000);
  const { data } = useQuery(getStoreStatus, {}, { refetchInterval: 5_000 });
  const updated = published && (
    <>
      {timeSince(timestampMs(published), now)} (<Time at={published} />)
    </>
  );
  const waiting = data && (data.pendingRequests || words.none);
  return (
    <section className="card" aria-label={text.state}>
      <Facts rows={Object.entries({ [text.updated]: updated, [text.waiting]: waiting })} />
    </section>
  );
}

/** Shows when a product can be delivered. The URL contains the product, so that staff can share it. */
function ProductSlots() {
  const [params, setParams] = useSearchParams();
  const product = readId(params.get('product'));
  const ids = product === undefined ? [] : [product];
  const nameOf = useProductNames(ids);
  const query = useQuery(getProductSlots, product === undefined ? skipToken : { productIds: ids });
  return (
    <Section title={text.ofProduct}>
      <ProductPicker
        label={words.fields.productId}
        chosen={ids.map((id) => ({ id, name: nameOf(id) }))}
        onChange={(options) => setParams(withFilters({ product: options.at(-1)?.id.toString() }), { replace: true })}
      />
      {product !== undefined && (
        <Read key={product} query={query} what={text.slotsOf(nameOf(product))}>
          {({ slots }) => (
            <OpenSlots isOfProduct slots={slots[product]?.slots ?? []}>
              {text.inNone(nameOf(product))}
            </OpenSlots>
          )}
        </Read>
      )}
    </Section>
  );
}

interface OpenSlotsProps {
  /** Ordered by delivery time. */
  readonly slots: readonly OpenSlot[];
  /** Whether the slots are those of one product: then the products of each are left out. */
  readonly isOfProduct?: boolean;
  /** Shown if no slot is open. */
  readonly children: ReactNode;
}

/** Lists open slots. Each leaves the list when its orders close, as it leaves the storefront. */
function OpenSlots({ slots, isOfProduct = false, children }: OpenSlotsProps) {
  const [most, setMost] = useState(shownAtOnce);
  const now = useNow(10_000);
  const id = useId();
  const open = slots.filter(({ freezeTime }) => freezeTime === undefined || timestampMs(freezeTime) > now);
  const shown = open.slice(0, most);
  const named = new Set(shown.flatMap(({ productIds }) => productIds.slice(0, namedProducts)));
  const nameOf = useProductNames([...named].sort((a, b) => a - b));
  const columns: Column<OpenSlot>[] = [
    {
      title: words.fields.deliveryTime,
      text: slotTime,
      show: (slot) => <Link href={`/slots/${slot.id}`}>{slotTime(slot)}</Link>,
    },
    {
      title: words.fields.freezeTime,
      className: 'time',
      text: ({ freezeTime }) => (freezeTime ? `in ${timeLeft(timestampMs(freezeTime), now)}` : ''),
    },
    {
      title: words.fields.productIds,
      className: 'detail clip',
      text: ({ productIds: { length }, productIds }) =>
        length === 0
          ? words.slots.noProducts
          : text.productsOf(length, productIds.slice(0, namedProducts).map(nameOf).join(', '), length - namedProducts),
    },
  ];
  if (isOfProduct) columns.pop();
  if (open.length === 0) return <Empty>{children}</Empty>;
  return (
    <>
      <p id={id} className="detail" role="status">
        {text.open(open.length)}
      </p>
      <ListTable labelledBy={id} columns={columns} rows={shown} keyOf={(slot) => slot.id} />
      {open.length > most && <Button onPress={() => setMost(most + shownAtOnce)}>{words.lists.showMore}</Button>}
    </>
  );
}
