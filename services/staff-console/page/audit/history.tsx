import { timestampMs } from '@bufbuild/protobuf/wkt';
import { timeSince, useNow } from '../business/time.tsx';
import { Button } from '../ui/button.tsx';
import { Empty, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { words } from '../words.ts';
import { Author, EntryView } from './entry-view.tsx';
import type { Kind } from './trail/deeds.ts';
import { mergeTrails } from './trail/merge-trails.ts';
import { ownerOf, useLastChange, useTrail } from './trail/trail.ts';

const text = words.activity;

interface RecordProps {
  readonly type: Kind;
  readonly id: number;
}

const pageSize = 10;
const tickMs = 10_000;

/**
 * Shows a record's audit trail as a section of its page, newest first, page by page (design 10). Among its changes stand
 * the recoveries of the database, which may have lost some. Those before the first change are left out.
 */
export function History({ type, id }: RecordProps) {
  const now = useNow(tickMs);
  const trail = useTrail(
    ownerOf(type),
    { resourceType: type, resourceId: id },
    {
      limit: pageSize,
      followsStore: type === 'slot',
    },
  );
  const recoveries = useTrail(ownerOf('database'), { resourceType: 'database' }, { limit: 1_000 });
  const { hasNextPage, isFetchingNextPage } = trail;
  const { entries: merged } = mergeTrails([
    { entries: trail.entries, hasMore: hasNextPage || trail.isPending },
    { entries: recoveries.entries, hasMore: false },
  ]);
  const first = merged.findLastIndex(({ resourceType }) => resourceType === type);
  const entries = first === -1 ? merged : merged.slice(0, first + 1);
  return (
    <Section title={text.history}>
      <Read query={trail} what="the history">
        {() => entries.length === 0 && <Empty>{text.noHistory}</Empty>}
      </Read>
      {trail.data !== undefined && (
        <Read query={recoveries} what="the recoveries of the database">
          {() => null}
        </Read>
      )}
      <ol className="audit-entries">
        {entries.map((entry) => (
          <EntryView key={`${entry.resourceType} ${entry.id}`} entry={entry} now={now} />
        ))}
      </ol>
      {hasNextPage && (
        <Button isPending={isFetchingNextPage} onPress={() => void trail.fetchNextPage()}>
          {isFetchingNextPage ? words.lists.loading : words.lists.showMore}
        </Button>
      )}
    </Section>
  );
}

/** Says who changed a record last, and when, such as "Changed by staff-2 1 min ago." */
export function LastChange({ type, id }: RecordProps) {
  const now = useNow(tickMs);
  const entry = useLastChange(type, id);
  if (entry?.at === undefined) return null;
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
