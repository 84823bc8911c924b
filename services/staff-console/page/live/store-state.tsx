import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { SlotStoreService } from '../../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { Time, timeSince, useNow } from '../business/time.tsx';
import { Badge, Facts } from '../ui/page.tsx';
import { useStoreVersion } from './use-store-version.ts';

const statusMs = 5_000;

/** Shows the storefront's version, its age, and the number of changes that are on their way. */
export function StoreState(): ReactNode {
  const { latest } = useStoreVersion();
  const now = useNow(1_000);
  const { data } = useQuery(SlotStoreService.method.getStoreStatus, {}, { refetchInterval: statusMs });
  const published = latest?.refreshedAt;
  return (
    <section className="card" aria-label="The storefront">
      <Facts
        rows={[
          ['Version', latest?.version],
          [
            'Published',
            published === undefined ? undefined : (
              <span key="published">
                {timeSince(timestampMs(published), now)} (<Time at={published} />)
              </span>
            ),
          ],
          ['On their way', data === undefined ? undefined : describePending(data.pendingRequests)],
        ]}
      />
    </section>
  );
}

function describePending(count: number): string {
  if (count === 0) return 'No changes';
  return count === 1 ? '1 change on its way' : `${count} changes on their way`;
}

/** Shows whether the page is up to date with the storefront. */
export function ConnectionState(): ReactNode {
  const { latest, connection } = useStoreVersion();
  const isLost = connection === 'lost' || (connection !== 'live' && latest !== undefined);
  return (
    <p role="status" className="live-connection">
      {connection === 'live' && <Badge kind="good">Up to date</Badge>}
      {isLost && (
        <>
          <Badge kind="bad">Reconnecting…</Badge> What you see may be out of date.
        </>
      )}
      {connection !== 'live' && !isLost && <Badge kind="plain">Connecting…</Badge>}
    </p>
  );
}
