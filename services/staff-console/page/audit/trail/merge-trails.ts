import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';

type Dated = Pick<AuditEntry, 'at' | 'id'>;

/** The part of a trail that has been read. */
export interface TrailSoFar<Entry extends Dated> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** Whether older entries may follow. */
  readonly hasMore: boolean;
}

/** Several trails merged into one. */
export interface MergedTrail<Entry extends Dated> {
  /** The entries that no unread entry can precede, newest first. */
  readonly entries: readonly Entry[];
  /** The index of the trail whose next page must be read before older entries are shown; undefined if all are shown. */
  readonly lagging: number | undefined;
}

/** Merges trails, each newest first, as far as all of them have been read. */
export function mergeTrails<Entry extends Dated>(trails: readonly TrailSoFar<Entry>[]): MergedTrail<Entry> {
  const places = trails.map(() => 0);
  const entries: Entry[] = [];
  for (;;) {
    let newest: { entry: Entry; index: number } | undefined;
    for (const [index, trail] of trails.entries()) {
      const entry = trail.entries[places[index] ?? 0];
      if (entry === undefined && trail.hasMore) return { entries, lagging: index };
      if (entry !== undefined && (newest === undefined || isNewer(entry, newest.entry))) newest = { entry, index };
    }
    if (newest === undefined) return { entries, lagging: undefined };
    entries.push(newest.entry);
    places[newest.index] = (places[newest.index] ?? 0) + 1;
  }
}

/** Orders entries of several trails, newest first. */
export function byNewest(a: Dated, b: Dated): number {
  return isNewer(a, b) ? -1 : 1;
}

/** Whether `a` is newer. Within a millisecond the ids decide, which follow the order of writes in one database. */
function isNewer(a: Dated, b: Dated): boolean {
  const [timeOfA, timeOfB] = [timeOf(a), timeOf(b)];
  return timeOfA === timeOfB ? a.id > b.id : timeOfA > timeOfB;
}

const timeOf = ({ at }: Dated) => (at === undefined ? 0 : timestampMs(at));
