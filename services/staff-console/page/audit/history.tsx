import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { AuditService } from '#gen/audit/v1/audit_service_pb';
import { timeSince, useNow } from '../business/time.tsx';
import { useTransports } from '../rpc/transport.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { words } from '../words.ts';
import { Author, EntryView } from './entry-view.tsx';
import type { Kind } from './trail/deeds.ts';
import { mergeTrails } from './trail/merge-trails.ts';
import { ownerOf, useTrail } from './trail/trail.ts';

const text = words.activity;
const tickMs = 10_000;
const { listEntries } = AuditService.method;

interface RecordProps {
  readonly type: Kind;
  readonly id: number;
}

/**
 * Shows a record's audit trail as a section of its page, newest first, page by page (design 10). Among its changes stand
 * the recoveries of the database, which may have lost some. Those before the first change are left out.
 */
export function History({ type, id }: RecordProps) {
  const now = useNow(tickMs);
  const trail = useTrail(
    ownerOf(type),
    { resourceType: type, resourceId: id, limit: 10 },
    { meta: { followsStore: type === 'slot' } },
  );
  const recoveries = useQuery(listEntries, { resourceType: 'database', limit: 1_000 });
  const { entries: merged } = mergeTrails([
    { entries: trail.entries, hasMore: trail.hasNextPage },
    { entries: recoveries.data?.entries ?? [], hasMore: false },
  ]);
  const first = merged.findLastIndex(({ resourceType }) => resourceType === type);
  const entries = first === -1 ? merged : merged.slice(0, first + 1);
  return (
    <Section title={text.history}>
      <Read query={trail} what="the history">
        {() => (
          <>
            {entries.length === 0 && <Empty>{text.noHistory}</Empty>}
            <Read query={recoveries} what="the recoveries of the database">
              {() => null}
            </Read>
            <ol className="audit-entries">
              {entries.map((entry) => (
                <EntryView key={`${entry.resourceType} ${entry.id}`} entry={entry} now={now} />
              ))}
            </ol>
            {trail.hasNextPage && (
              <Button isPending={trail.isFetchingNextPage} onPress={() => void trail.fetchNextPage()}>
                {trail.isFetchingNextPage ? words.lists.loading : words.lists.showMore}
              </Button>
            )}
          </>
        )}
      </Read>
    </Section>
  );
}

/** Says who changed a record last, and when, such as "Changed by staff-2 1 min ago." */
export function LastChange({ type, id }: RecordProps) {
  const now = useNow(tickMs);
  const transport = useTransports()[ownerOf(type)];
  const request = { resourceType: type, resourceId: id, limit: 1 };
  const { data, isFetching } = useQuery(listEntries, request, { transport, staleTime: 0 });
  const entry = data?.entries[0];
  // A cached entry may no longer be the last one.
  if (isFetching || entry?.at === undefined) return null;
  return (
    <span>
      {text.changedBy}{' '}
      <strong>
        <Author entry={entry} />
      </strong>{' '}
      {timeSince(timestampMs(entry.at), now)}.
    </span>
  );
}
