import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { Time, timeSince, useNow } from '../business/time.tsx';
import { useProductNames } from '../lookup/names.ts';
import { ProductPicker } from '../lookup/pickers.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Badge, Facts, Page, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { OpenSlots } from './open-slots.tsx';
import { useStoreVersion } from './use-store-version.ts';

const text = words.storefront;
const { getOpenSlots, getProductSlots, getStoreStatus } = SlotStoreService.method;
const behindMs = 1_000;
const statusMs = 5_000;

/** Shows what the storefront shows at this moment, from the derived stores (design 4). */
export function Component() {
  const { version = 0 } = useStoreVersion().latest ?? {};
  const query = useQuery(
    getOpenSlots,
    {},
    {
      // A different replica than the stream's may answer, and may be a moment behind.
      refetchInterval: ({ state: { data } }) => data !== undefined && data.version < version && behindMs,
    },
  );
  return (
    <Page title={words.frame.storefront} beside={<ConnectionState />}>
      <p>{text.now}</p>
      <StoreState />
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

/** Shows whether the page is up to date with the storefront. */
function ConnectionState() {
  const { latest, connection } = useStoreVersion();
  const isLost = connection === 'lost' || latest !== undefined;
  return (
    <p role="status">
      {connection === 'live' ? (
        <Badge kind="good">{text.upToDate}</Badge>
      ) : (
        <Badge kind={isLost ? 'bad' : 'plain'}>{isLost ? text.reconnecting : text.connecting}</Badge>
      )}
      {connection !== 'live' && isLost && ` ${text.outOfDate}`}
    </p>
  );
}

/** Shows when the storefront was last updated, and how many changes it does not show yet. */
function StoreState() {
  const published = useStoreVersion().latest?.refreshedAt;
  const now = useNow(1_000);
  const { data } = useQuery(getStoreStatus, {}, { refetchInterval: statusMs });
  const updated = published && (
    <>
      {timeSince(timestampMs(published), now)} (<Time at={published} />)
    </>
  );
  return (
    <section className="card" aria-label={text.state}>
      <Facts
        rows={[
          [text.updated, updated],
          [text.waiting, data && (data.pendingRequests || text.noneWaiting)],
        ]}
      />
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
        label={text.product}
        chosen={ids.map((id) => ({ id, name: nameOf(id) }))}
        onChange={(options) => {
          const chosen = options.at(-1);
          setParams(chosen === undefined ? {} : { product: String(chosen.id) }, { replace: true });
        }}
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
