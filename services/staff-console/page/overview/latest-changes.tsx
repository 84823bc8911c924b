import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { AuditService } from '#gen/audit/v1/audit_service_pb';
import { Deed } from '../audit/entry-view.tsx';
import { mergeTrails } from '../audit/trail/merge-trails.ts';
import { timeSince } from '../business/time.tsx';
import { readEvery } from '../rpc/query-client.ts';
import { useTransports } from '../rpc/transport.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { words } from '../words.ts';

const text = words.overview;
const limit = 10;
const refetchInterval = readEvery(60_000);

/** Lists the last ten changes of both services, or of the one that answers. */
export function LatestChanges({ now }: { readonly now: number }) {
  const { slot, coupon } = useTransports();
  const { listEntries } = AuditService.method;
  const ofSlots = useQuery(listEntries, { limit }, { transport: slot, refetchInterval });
  const ofCoupons = useQuery(listEntries, { limit }, { transport: coupon, refetchInterval });
  const trails = [ofSlots, ofCoupons].map(({ data }) => ({ entries: data?.entries ?? [], hasMore: false }));
  const entries = mergeTrails(trails).entries.slice(0, limit);
  return (
    <Section title={text.changes} actions={<ButtonLink href="/audit">{text.all}</ButtonLink>}>
      <Read query={ofSlots} what={text.changesOfSlots}>
        {() => null}
      </Read>
      <Read query={ofCoupons} what={text.changesOfCoupons}>
        {() => null}
      </Read>
      <ul className="plain feed">
        {entries.map((entry) => (
          <li key={`${entry.resourceType} ${entry.id}`}>
            <Deed entry={entry} />
            {entry.at !== undefined && <p className="detail">{timeSince(timestampMs(entry.at), now)}</p>}
          </li>
        ))}
        {ofSlots.data && ofCoupons.data && entries.length === 0 && <li className="detail">{words.activity.noneYet}</li>}
      </ul>
    </Section>
  );
}
