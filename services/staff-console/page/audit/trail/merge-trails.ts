import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';

type Dated = Pick<AuditEntry, 'at' | 'id'>;

/**
 * Merges what was read of trails, as far as no unread entry can precede it. `lagging` is the index of the trail whose next
 * page must be read before older entries are shown; undefined if all are shown.
 */
export function mergeTrails<Entry extends Dated>(trails: readonly { entries: readonly Entry[]; hasMore: boolean }[]) {
  const all = trails.flatMap(({ entries }) => entries).sort(byNewest);
  const ends = trails.map(({ entries, hasMore }) => {
    const last = entries.at(-1);
    if (!hasMore) return all.length + 1;
    return last === undefined ? 0 : all.indexOf(last) + 1;
  });
  const end = Math.min(...ends);
  return { entries: all.slice(0, end), lagging: end > all.length ? undefined : ends.indexOf(end) };
}

/** Orders entries, newest first. Within a millisecond the ids decide, which follow the order of writes in one database. */
export const byNewest = (a: Dated, b: Dated) => timeOf(b) - timeOf(a) || Number(b.id - a.id);

const timeOf = ({ at }: Dated) => (at === undefined ? 0 : timestampMs(at));
