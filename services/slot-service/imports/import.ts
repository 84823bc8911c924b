import type { ConnectError } from '@connectrpc/connect';
import { type Actor, actorOf, auditEntry, differing, type ResourceType } from '../../../shared/audit/entry.ts';
import type { Caller } from '../../../shared/db/caller.ts';
import type { Database } from '../../../shared/db/database.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { type Queryable, type Statement, statement } from '../../../shared/db/statement.ts';
import { invalidField } from '../../../shared/errors/errors.ts';
import { ImportOutcome, type ImportResultSchema } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { ImportParts } from '../parts.ts';

/** A row to import, as a request has it. */
export interface Given {
  readonly externalId: string;
}

/** What the statement is given of a row. */
interface GivenRow {
  readonly external_id: string;
  readonly name?: string | null;
  readonly mobile?: string | null;
}

/** How the records of a table are imported (design 14). */
export interface Importing<Row extends Given> {
  /** The list of rows in the request, such as `users`. */
  readonly list: string;
  /**
   * Returns what the statement is given of a row, by the names of `given`. Null stands for an empty value. Throws
   * INVALID_ARGUMENT; `prefix` begins the names of fields, such as `users[3].`.
   */
  toGiven(row: Row, callingCode: string | undefined, prefix: string): GivenRow;
  readonly write: Statement<ImportedRow, WriteParams>;
  /** Runs after `write`, in its transaction, if a value has passed from one record to another. */
  readonly pass?: Statement<never, Pick<WriteParams, 'rows'>>;
  /** Returns the error for a row that the statement refuses. `prefix` begins its field's name, such as `users[3].`. */
  refusal?(prefix: string): ConnectError;
}

interface WriteParams extends Actor {
  /** The rows as a JSON list. */
  readonly rows: string;
  /** Whether `pass` follows. Otherwise nothing is written if a value passes from one record to another. */
  readonly mayPass: boolean;
}

/** What the statement has found and done. */
interface ImportedRow {
  externalId: string;
  /** 0 if the record is new, and was not written. */
  id: number;
  outcome: ImportOutcome;
  /** The row breaks a rule. Then no row was written. */
  isRefused: boolean;
  /** The row's value was another record's before. Only `pass` writes it. */
  isPassed: boolean;
}

/**
 * Imports all rows of a call, or none.
 *
 * Throws INVALID_ARGUMENT for an external id that is given twice, and the `refusal` of the first row that is refused.
 */
export async function importAll<Row extends Given>(
  importing: Importing<Row>,
  parts: ImportParts,
  rows: readonly Row[],
  call: CallContext,
): Promise<{ results: Answer<typeof ImportResultSchema>[] }> {
  const { list, refusal } = importing;
  const seen = new Set<string>();
  for (const [index, { externalId }] of rows.entries()) {
    if (seen.has(externalId)) throw invalidField(`${list}[${index}].external_id`, 'is given twice');
    seen.add(externalId);
  }
  const given = rows.map((row, index) => importing.toGiven(row, parts.callingCode, `${list}[${index}].`));
  if (searchedLength(given) > maxSearched) {
    throw invalidField(list, `names and mobile numbers have more than ${maxSearched} characters in all`);
  }
  call.chargeRows(given.length);
  const written = await writeRows(importing, given, parts.database, call, actorOf(call));
  const refused = written.findIndex(({ isRefused }) => isRefused);
  if (refused >= 0) throw refusal?.(`${list}[${refused}].`);
  return { results: written.map(({ externalId, id, outcome }) => ({ externalId, id, outcome })) };
}

/** Names and mobile numbers are indexed in pieces of each character, which takes most of the time. */
export const maxSearched = 100_000;

/** Returns how many characters of rows are searched for. */
export const searchedLength = (given: readonly GivenRow[]) =>
  given.reduce((sum, { name, mobile }) => sum + (name?.length ?? 0) + (mobile?.length ?? 0), 0);

/**
 * Writes all rows, or none if one is refused. After a lost race it runs alone among the imports of its kind, and so
 * loses no further one to them.
 *
 * @returns what became of each row, in the order given.
 */
export async function writeRows(
  { list, write, pass }: Importing<never>,
  given: readonly object[],
  database: Database,
  caller: Caller,
  actor: Actor,
): Promise<readonly ImportedRow[]> {
  const rows = JSON.stringify(given);
  const mayWrite = (written: readonly ImportedRow[]) => !written.some(({ isRefused }) => isRefused);
  const { written } = await conditionalWrite(async (isRerun) => {
    const run = (db: Queryable, mayPass: boolean) =>
      db.pipeline([takeTurn({ list, isAlone: isRerun })], write({ ...actor, rows, mayPass }));
    let written = await run(database.for(caller), false);
    if (pass !== undefined && mayWrite(written) && written.some(({ isPassed }) => isPassed)) {
      written = await database.within(caller, async (tx) => {
        const passed = await run(tx, true);
        if (mayWrite(passed)) await tx.query(pass({ rows }));
        return passed;
      });
    }
    return [{ id: 0, mayWrite: mayWrite(written), written }];
  });
  return written;
}

const turn = `hashtext(own_name('import of ' || $list))`;
const takeTurn = statement<never, { list: string; isAlone: boolean }>(
  'takeImportTurn',
  `select case when $isAlone then pg_advisory_xact_lock(${turn}) else pg_advisory_xact_lock_shared(${turn}) end`,
);

interface ImportedTable {
  readonly table: string;
  /** Undefined: changes of such records have no audit entry. */
  readonly type?: ResourceType;
  /** The names and types of a row's fields. */
  readonly given: string;
  /** The columns that an import writes. */
  readonly columns: readonly string[];
  /**
   * SQL of the rows as they are wanted, from `given`: the columns, `place`, the `id` of the record (null for a new one),
   * and `is_refused`.
   */
  readonly wanted: string;
  /**
   * A unique column. Where `wanted` says `is_passed`, another record has the value, and it is null until `pass` writes it.
   */
  readonly passing?: string;
  /** Returns SQL of the names and values of a record's fields, for its audit entry. `row` is the record. */
  fields(row: string): string;
  /** SQL of a further reason to write a record, `seen`. */
  readonly alsoDiffers?: string;
  /** SQL of further common table expressions, which may read `created` and `changed`. */
  readonly also?: readonly string[];
}

/**
 * Declares the statement of an import. It creates the records that are new, and changes those that differ, unless a row
 * is refused. It locks them in one order, whatever the order of rows. If a concurrent call changes one of them, it undoes
 * all and fails.
 */
export function importStatement(
  name: string,
  { table, type, given, columns, wanted, passing, fields, alsoDiffers = 'false', also = [] }: ImportedTable,
): Statement<ImportedRow, WriteParams> {
  const changes = `select id, null::json as before, json_strip_nulls(json_build_object(${fields('made')})) as after from made
     union all ${differing('select id, old, new from changed')}`;
  const entries = type === undefined ? [] : [auditEntry(type, changes)];
  const of = (row: string) => columns.map((column) => `${row}.${column}`).join(', ');
  const isPassed = passing === undefined ? 'false' : 'matched.is_passed';
  const written = columns.map((column) =>
    column === passing ? `case when not ${isPassed} then matched.${column} end` : `matched.${column}`,
  );
  return statement(
    name,
    `with given as materialized (
       select *, ordinality as place from rows from (json_to_recordset($rows::json) as (${given})) with ordinality as given
     ),
     wanted as materialized (${wanted}),
     matched as materialized (
       select wanted.*, seen.xmin as version,
         case when (${of('seen')}) is distinct from (${of('wanted')}) or ${alsoDiffers}
           then json_build_object(${fields('seen')}) end as old
       from wanted left join ${table} as seen on seen.id = wanted.id
     ),
     verdict as materialized (
       select not bool_or(is_refused or ${isPassed} and not $mayPass::boolean) as may_write from matched
     ),
     created as (
       insert into ${table} (${columns.join(', ')})
       select ${written.join(', ')} from matched, verdict where ${ifNewKey('may_write and id is null')}
       -- Another call may create the same records, in the same order: so neither waits for the other in a circle.
       order by external_id
       returning id, external_id
     ),
     made as (select created.id, ${of('matched')} from created join matched using (external_id)),
     locked as materialized (
       select ${table}.id from ${table} join matched on matched.id = ${table}.id, verdict
       where may_write and old is not null
       order by ${table}.id for ${passing === undefined ? 'no key update' : 'update'} of ${table}
     ),
     changed as (
       update ${table} set (${columns.join(', ')}) = row(${written.join(', ')})
       from matched join locked using (id)
       where ${table}.id = matched.id and ${table}.xmin = version
       returning ${table}.id, old, json_build_object(${fields('matched')}) as new
     )${[...also, ...entries].map((part) => `,\n     ${part}`).join('')}
     select matched.external_id as "externalId", coalesce(matched.id, created.id, 0) as id, is_refused as "isRefused",
       ${isPassed} as "isPassed",
       case when matched.id is null then ${ImportOutcome.CREATED} when old is null then ${ImportOutcome.UNCHANGED}
         else ${ImportOutcome.CHANGED} end as outcome,
       case when may_write and (select count(*) from changed) < (select count(*) from matched where id is not null and old is not null)
         then refuse_lost_race() end as "lostRace"
     from verdict, matched left join created using (external_id)
     order by place`,
  );
}
