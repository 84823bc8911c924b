import type { Database } from '../db/database.ts';
import { databaseErrors } from '../db/errors.ts';
import { timeOf } from '../db/micros.ts';
import { onlyRow, type Queryable, statement } from '../db/statement.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { AuditService } from '../gen/audit/v1/audit_service_pb.ts';
import type { Handler } from '../rpc/implementation.ts';
import { beginning, type Position, readPosition, writePosition } from './position.ts';
import type { EntryPage, EntryTail, ShownEntry } from './tail.ts';

/** A stream tells its position at least so often. */
const positionEveryMs = 8_000;

/** The beginning is a position, too: of a trail that has no entry yet. */
const isKept = statement<{ isKept: boolean; isStandby: boolean }, Position>(
  'isKept',
  `select pg_is_in_recovery() as "isStandby", case when $id::bigint > 0
     then exists (select from audit_entries where id = $id::bigint and at = ${timeOf('$micros')})
       or exists (select from audit_retention where swept_id = $id::bigint and swept_at = ${timeOf('$micros')})
     else not exists (select from audit_retention where swept_id is not null) end as "isKept"`,
);

interface Passed {
  /** The last entry that is committed. */
  upTo: number;
  /** Before it: what is not, from one id to another, without these. */
  gapsAfter: readonly number[];
  gapsBefore: readonly number[];
}

/** The entries that were committed before a stream, although their place was not final yet. */
const passedEntries = statement<Passed, { after: number }>(
  'passedEntries',
  `select coalesce(max(id), 0)::float8 as "upTo",
     coalesce(array_agg(previous::float8) filter (where id > previous + 1), '{}') as "gapsAfter",
     coalesce(array_agg(id::float8) filter (where id > previous + 1), '{}') as "gapsBefore"
   from (
     select id, lag(id, 1, $after::bigint) over (order by id) as previous from audit_entries where id > $after::bigint
   ) as entries`,
);

const isPassed = (id: number, { upTo, gapsAfter, gapsBefore }: Passed) =>
  id <= upTo && !gapsAfter.some((after, gap) => after < id && id < (gapsBefore[gap] ?? 0));

/**
 * Design 14, watchEntries: streams the entries of a service that are committed after a position, in their final order.
 * The stream ends when the service begins to stop.
 *
 * Throws INVALID_ARGUMENT for a garbled position and FAILED_PRECONDITION POSITION_LOST for one that is no longer kept.
 */
export function watchEntries(database: Database, tail: EntryTail): Handler<typeof AuditService.method.watchEntries> {
  return async function* (request, call) {
    const db = database.for(call);
    const types = new Set(request.resourceTypes);
    const { setBacks } = tail.horizon.value;
    let position = request.position === '' ? undefined : await findPosition(db, request.position);
    let passed: Passed = { upTo: 0, gapsAfter: [], gapsBefore: [] };
    let toldAtMs = Number.NEGATIVE_INFINITY;
    const isWanted = ({ row: { id, resourceType } }: ShownEntry) =>
      !isPassed(Number(id), passed) && (types.size === 0 || types.has(resourceType));
    for await (const horizon of tail.horizon.values(call.signal)) {
      if (horizon.setBacks !== setBacks) throw fail(commonErrors.positionLost);
      if (position === undefined) {
        if (horizon.reached === undefined) continue;
        passed = onlyRow(await db.query(passedEntries({ after: horizon.reached.id })));
        position = horizon.reached;
      }
      do {
        const page: EntryPage = tail.hasAfter(position, setBacks)
          ? await tail.pageAfter(position, call)
          : { entries: [], position };
        position = page.position;
        const entries = page.entries.filter(isWanted).map(({ message }) => message);
        if (entries.length === 0 && performance.now() - toldAtMs < positionEveryMs) continue;
        yield { entries, position: position === beginning ? request.position : writePosition(position) };
        toldAtMs = performance.now();
      } while (tail.hasAfter(position, setBacks));
    }
    call.signal.throwIfAborted();
  };
}

async function findPosition(db: Queryable, asked: string): Promise<Position> {
  if (asked === 'oldest') return beginning;
  const position = readPosition(asked);
  const found = onlyRow(await db.query(isKept(position)));
  // A standby may not have the entry yet.
  if (!found.isKept) throw fail(found.isStandby ? databaseErrors.unavailable : commonErrors.positionLost);
  return position;
}
