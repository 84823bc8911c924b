import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Caller } from '../db/caller.ts';
import type { Database } from '../db/database.ts';
import { microsOf, timeOf } from '../db/micros.ts';
import { onlyRow, statement } from '../db/statement.ts';
import { AuditEntrySchema } from '../gen/audit/v1/audit_service_pb.ts';
import { Latest } from '../reads/latest.ts';
import { SharedRead } from '../reads/shared-read.ts';
import type { Shared } from '../rpc/answers/answer.ts';
import { share } from '../rpc/answers/message-encoder.ts';
import { beginning, type Position } from './position.ts';
import { type EntryRow, entryColumns, isShown, type shownBy, toEntry, toShown } from './shown-entry.ts';

/** An entry waits for writers that began before it, and for those that began until the next tick. */
const tickMs = 250;
/** While nobody waits for entries, the horizon moves only once in so many ticks. */
const idleTicks = 4;
const tickTimeoutMs = 5_000;
const maxEntries = 500;
/** Protobuf takes up to 5.5 times the bytes of the same JSON: `1,` takes 11. Only a single entry may exceed 4 MiB. */
const maxPageBytes = 512 * 1024;
const maxEntryBytes = 4 * 1024 * 1024 - 1024;

/** An entry that a service shows. */
export interface ShownEntry {
  readonly row: EntryRow;
  readonly message: Shared;
}

/** Entries in their order, of which the service shows some. */
export interface EntryPage {
  readonly entries: readonly ShownEntry[];
  /** The position after the page. */
  readonly position: Position;
}

/** Up to where the order of the entries is final. */
export interface Horizon {
  /** Undefined: not known yet. */
  readonly reached: Position | undefined;
  /** How often the database was set back. Positions of before are lost. */
  readonly setBacks: number;
}

interface FoundHorizon {
  lastId: number;
  lastMicros: number;
  writers: string[];
  isSetBack: boolean;
  /** A standby does not know the writers, and may not show the last entry yet. */
  isStandby: boolean;
}

// A transaction locks the table before its entries take their ids, which grow, and its entries are visible before it
// unlocks. The snapshot, which shows the last entry, is older than the list of writers. Entries with lower ids that it
// does not show are therefore of these writers. Retention may have deleted the last entry.
const entryHorizon = statement<FoundHorizon, Position>(
  'entryHorizon',
  `select pg_is_in_recovery() as "isStandby",
     coalesce(last.id, 0)::float8 as "lastId", coalesce(${microsOf('last.at')}, 0)::float8 as "lastMicros",
     array(
       select virtualtransaction from pg_locks
       where relation = 'audit_entries'::regclass and mode = 'RowExclusiveLock' and granted
         and database = (select oid from pg_database where datname = current_database())
     ) as writers,
     coalesce(last.id, 0) < $id::bigint or ($id::bigint > 0 and not exists (
       select from audit_entries where id = $id::bigint and at = ${timeOf('$micros')}
       union all select from audit_retention where swept_id >= $id::bigint
     )) as "isSetBack"
   from (values (1)) as one left join (
     select id, at from (select id, at from audit_entries order by id desc limit 1) as kept
     union all select swept_id, swept_at from audit_retention where swept_id is not null
     order by id desc limit 1
   ) as last on true`,
);

interface PageRow extends EntryRow {
  isShown: boolean;
  shownBytes: number;
}

const entriesAfter = statement<PageRow, { after: number; upTo: number; types: readonly string[]; ofImports: boolean }>(
  'entriesAfter',
  `select is_shown as "isShown", shown_bytes as "shownBytes",${entryColumns('is_shown')}
   from (
     select *, sum(bytes) over (order by id) as sum
     from (
       select *, case when is_shown then shown_bytes + octet_length(subject) + 400 else 0 end as bytes
       from (
         select *, ${isShown} as is_shown
         from audit_entries where id > $after::bigint and id <= $upTo::bigint order by id limit ${maxEntries}
       ) as found
     ) as measured
   ) as page
   where sum <= ${maxPageBytes} or sum = bytes
   order by id`,
);

/** The parts of a service that its tail needs. */
export interface TailedService {
  readonly database: Database;
  readonly logger: Logger;
  readonly shutdown: { push(step: { readonly name: string; stop(): void }): void };
  /** Aborts when the service begins to stop, which ends all streams. */
  readonly draining: AbortSignal;
}

/**
 * Follows the entries in an order in which no later one is ever inserted (design 14): by their ids, up to a horizon
 * below which no transaction can write any more. The ids of a record's entries are in the order of its changes, since
 * an entry takes its id while its transaction has locked the record.
 *
 * The horizon only has ids of entries that were visible. A crash can't undo these, so that no id below is given twice.
 */
export class EntryTail {
  readonly horizon: Latest<Horizon>;
  readonly #database: Database;
  readonly #draining: AbortSignal;
  readonly #logger: Logger;
  readonly #pages: SharedRead<number, EntryPage>;
  readonly #stopped = new AbortController();
  /** The writers of the last tick, each with the last entry of before it began: all of its ids are higher. */
  #writers: ReadonlyMap<string, Position | undefined> = new Map();
  #last: Position | undefined;
  #isFailing = false;

  private constructor(database: Database, service: keyof typeof shownBy, draining: AbortSignal, logger: Logger) {
    this.#database = database;
    this.#draining = draining;
    this.#logger = logger;
    this.horizon = new Latest<Horizon>({ reached: undefined, setBacks: 0 }, draining);
    const shown = toShown(service);
    this.#pages = new SharedRead(
      async (places, process) => {
        const pages = new Map<number, EntryPage>();
        for (const after of places) {
          const { reached: end = beginning } = this.horizon.value;
          const params = { ...shown, after, upTo: end.id };
          pages.set(after, toPage(await database.for(process).query(entriesAfter(params)), end));
        }
        return pages;
      },
      // All who have read up to the same place share the next page.
      { maxRunning: 2, maxKeys: 2, maxReads: Number.POSITIVE_INFINITY },
    );
  }

  /** Starts to follow the entries that a service shows. */
  static async start({ database, draining, logger, shutdown }: TailedService, service: keyof typeof shownBy) {
    const tail = new EntryTail(database, service, draining, logger);
    await tail.#tick();
    void tail.#run();
    shutdown.push({
      name: 'entry tail',
      stop: () => tail.#stopped.abort(),
    });
    return tail;
  }

  /**
   * Whether there are entries after a position whose place is final. False once the database was set back after so many
   * times, and when the service begins to stop.
   */
  hasAfter(position: Position, setBacks: number): boolean {
    const { reached = beginning, setBacks: current } = this.horizon.value;
    return !this.#draining.aborted && current === setBacks && reached.id > position.id;
  }

  /** Resolves with the next entries after a position that `hasAfter`. Rejects as `SharedRead` does. */
  async pageAfter({ id }: Position, caller: Caller): Promise<EntryPage> {
    const page = await this.#pages.read(id, caller);
    if (page === undefined) throw new Error('the page was not read');
    return page;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let tick = 1; !signal.aborted; tick += 1) {
      await pause(tickMs, undefined, { signal }).catch(() => undefined);
      if (this.horizon.isAwaited || tick % idleTicks === 0) await this.#tick();
    }
  }

  /** Moves the horizon. Its value is a new one in any case, so that those who wait for it can look at the time. */
  async #tick(): Promise<void> {
    const { reached, setBacks } = this.horizon.value;
    try {
      const signal = AbortSignal.timeout(tickTimeoutMs);
      const found = onlyRow(await this.#database.for({ signal }).query(entryHorizon(reached ?? beginning)));
      if (found.isStandby) throw new Error('the database is a standby');
      if (found.isSetBack) {
        this.#logger.warn({ from: reached?.id, to: found.lastId }, 'the database was set back: streams of entries end');
        this.#writers = new Map();
        this.#last = undefined;
        this.horizon.value = { reached: undefined, setBacks: setBacks + 1 };
      } else {
        this.horizon.value = {
          reached: this.#move({ id: found.lastId, micros: found.lastMicros }, found.writers),
          setBacks,
        };
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#stopped.signal.aborted) {
        this.#logger.warn({ err: error }, 'the order of new audit entries could not be read');
      }
      this.#isFailing = true;
      this.horizon.value = { reached, setBacks };
    }
  }

  /** Returns the new horizon: the last entry that is below all ids of the writers. */
  #move(last: Position, writers: readonly string[]): Position | undefined {
    const { reached } = this.horizon.value;
    // A prepared transaction gets such a name when PostgreSQL starts again, and began before.
    const beganAfter = (writer: string) => (writer.startsWith('-1/') ? reached : this.#last);
    const known = this.#writers;
    this.#writers = new Map(
      writers.map((writer) => [writer, known.has(writer) ? known.get(writer) : beganAfter(writer)]),
    );
    this.#last = last;
    const bounds = [...this.#writers.values()];
    // Those of the first tick may have begun at any time.
    if (bounds.includes(undefined)) return reached;
    return bounds.reduce<Position>(
      (lowest, bound) => (bound !== undefined && bound.id < lowest.id ? bound : lowest),
      last,
    );
  }
}

function toPage(rows: readonly PageRow[], end: Position): EntryPage {
  const last = rows.at(-1);
  const position = last === undefined ? end : { id: Number(last.id), micros: Number(last.atMicros) };
  const entries = rows.filter(({ isShown }) => isShown).map((row) => ({ row, message: toMessage(row) }));
  return { entries, position };
}

/** An entry that is too large for an answer loses its changes. */
function toMessage({ isShown: _, shownBytes, ...row }: PageRow): Shared {
  const message = share(AuditEntrySchema, toEntry(row));
  if (shownBytes < maxPageBytes) return message;
  const isTooLarge = Math.max(message.binary.length, Buffer.byteLength(message.json)) > maxEntryBytes;
  return isTooLarge ? share(AuditEntrySchema, { ...toEntry(row), before: undefined, after: undefined }) : message;
}
