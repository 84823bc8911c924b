import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { AuditEntry } from '../../../../../shared/gen/audit/v1/audit_service_pb.ts';

type Dated = Pick<AuditEntry, 'at' | 'id'>;

/** What has been read of a trail. */
export interface TrailSoFar<Entry extends Dated> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** Whether older entries may follow. */
  readonly hasMore: boolean;
}

/** Several trails as one. */
export interface MergedTrail<Entry extends Dated> {
  /** Newest first: those that nothing which is still to be read can come before. */
  readonly entries: readonly Entry[];
  /** The trail that has to be read on before older entries can be shown, by its place; undefined: all are shown. */
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

/** Of the same millisecond, the one that was written later, if both are of one database. */
function isNewer(a: Dated, b: Dated): boolean {
  const [timeOfA, timeOfB] = [timeOf(a), timeOf(b)];
  return timeOfA === timeOfB ? a.id > b.id : timeOfA > timeOfB;
}

const timeOf = ({ at }: Dated) => (at === undefined ? 0 : timestampMs(at));
