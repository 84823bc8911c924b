import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { Time, timeSince, useNow } from '../business/time.tsx';
import { Badge, Facts } from '../ui/page.tsx';
import { words } from '../words.ts';
import { useStoreVersion } from './use-store-version.ts';

const text = words.storefront;

const statusMs = 5_000;

/** Shows when the storefront was last updated, and how many changes it does not show yet. */
export function StoreState() {
  const { latest } = useStoreVersion();
  const now = useNow(1_000);
  const { data } = useQuery(SlotStoreService.method.getStoreStatus, {}, { refetchInterval: statusMs });
  const published = latest?.refreshedAt;
  return (
    <section className="card" aria-label={text.state}>
      <Facts
        rows={[
          [
            text.updated,
            published === undefined ? undefined : (
              <span key="published">
                {timeSince(timestampMs(published), now)} (<Time at={published} />)
              </span>
            ),
          ],
          [text.waiting, data && (data.pendingRequests || text.noneWaiting)],
        ]}
      />
    </section>
  );
}

/** Shows whether the page is up to date with the storefront. */
export function ConnectionState() {
  const { latest, connection } = useStoreVersion();
  const isLost = connection === 'lost' || (connection !== 'live' && latest !== undefined);
  return (
    <p role="status">
      {connection === 'live' && <Badge kind="good">{text.upToDate}</Badge>}
      {isLost && (
        <>
          <Badge kind="bad">{text.reconnecting}</Badge> {text.outOfDate}
        </>
      )}
      {connection !== 'live' && !isLost && <Badge kind="plain">{text.connecting}</Badge>}
    </p>
  );
}
