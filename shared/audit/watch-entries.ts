import type { Database } from '../db/database.ts';
import { timeOf } from '../db/micros.ts';
import { onlyRow, type Queryable, statement } from '../db/statement.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { AuditService } from '../gen/audit/v1/audit_service_pb.ts';
import type { Handler } from '../rpc/implementation.ts';
import { beginning, type Position, readPosition, writePosition } from './position.ts';
import type { EntryRow } from './shown-entry.ts';
import type { EntryTail } from './tail.ts';

/** A stream tells its position at least so often. */
const positionEveryMs = 10_000;
/** More entries than are written while the horizon moves once. */
const maxPassed = 10_000;

/** The beginning is a position, too: of a trail that has no entry yet. */
const isKept = statement<{ isKept: boolean }, Position>(
  'isKept',
  `select case when $id::bigint > 0
     then exists (select from audit_entries where id = $id::bigint and at = ${timeOf('$micros')})
     else not (select has_swept from audit_retention) end as "isKept"`,
);

/** The entries whose place is not final yet. */
const passedEntries = statement<{ ids: string[] }, { after: number }>(
  'passedEntries',
  `select array(
     select id::text from audit_entries where id > $after::bigint order by id desc limit ${maxPassed}
   ) as ids`,
);

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
    let passed = new Set<string>();
    const isWanted = ({ id, resourceType }: EntryRow) =>
      !passed.has(id) && (types.size === 0 || types.has(resourceType));
    let toldAtMs = Number.NEGATIVE_INFINITY;
    for await (const { reached } of tail.horizon.values(call.signal.toAbortSignal())) {
      if (position === undefined) {
        if (reached === undefined) continue;
        passed = new Set(onlyRow(await db.query(passedEntries({ after: reached.id }))).ids);
        position = reached;
      }
      while (tail.hasAfter(position)) {
        if (tail.horizon.value.setBacks !== setBacks) break;
        const page = await tail.pageAfter(position, call);
        position = page.position;
        const entries = page.entries.filter(({ row }) => isWanted(row)).map(({ message }) => message);
        if (entries.length === 0) continue;
        yield { entries, position: writePosition(position) };
        toldAtMs = performance.now();
      }
      if (tail.horizon.value.setBacks !== setBacks) throw fail(commonErrors.positionLost);
      if (performance.now() - toldAtMs < positionEveryMs) continue;
      yield { entries: [], position: writePosition(position) };
      toldAtMs = performance.now();
    }
    call.signal.throwIfAborted();
  };
}

async function findPosition(db: Queryable, asked: string): Promise<Position> {
  if (asked === 'oldest') return beginning;
  const position = readPosition(asked);
  if (!onlyRow(await db.query(isKept(position))).isKept) throw fail(commonErrors.positionLost);
  return position;
}
