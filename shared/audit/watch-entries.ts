import type { Database } from '../db/database.ts';
import { databaseErrors } from '../db/errors.ts';
import { timeOf } from '../db/micros.ts';
import { onlyRow, type Queryable, statement } from '../db/statement.ts';
import { commonErrors, fail, invalidField } from '../errors/errors.ts';
import type { AuditService } from '../gen/audit/v1/audit_service_pb.ts';
import type { Handler } from '../rpc/implementation.ts';
import { isPassed, nothingPassed, type Passed, passedAfter } from './passed.ts';
import { beginning, type Position, readPosition, writePosition } from './position.ts';
import { shownBy } from './shown-entry.ts';
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

const passedEntries = statement<Passed, { after: number }>('passedEntries', passedAfter('$after::bigint'));

/**
 * Design 14, watchEntries: streams the entries of a service that are committed after a position, in their final order.
 * The stream ends when the service begins to stop.
 *
 * Throws INVALID_ARGUMENT for a garbled position and for a type of records that only the other service writes, and
 * FAILED_PRECONDITION POSITION_LOST for a position that is no longer kept.
 */
export function watchEntries(
  database: Database,
  tail: EntryTail,
  service: keyof typeof shownBy,
): Handler<typeof AuditService.method.watchEntries> {
  return async function* (request, call) {
    const shown: readonly string[] = [...shownBy[service].types, 'user'];
    const foreign = request.resourceTypes.find((type) => !shown.includes(type));
    if (foreign !== undefined)
      throw invalidField('resource_types', `${service}-service has no entries of type ${foreign}`);
    const db = database.for(call);
    const types = new Set(request.resourceTypes);
    const { setBacks } = tail.horizon.value;
    let position = request.position === '' ? undefined : await findPosition(db, request.position);
    let passed = nothingPassed;
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
