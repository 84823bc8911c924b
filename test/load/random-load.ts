import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { CallOptions, Client, ConnectError } from '@connectrpc/connect';
import { expect } from 'vitest';
import type { ResourceType } from '../../shared/audit/entry.ts';
import { ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { findAnomaly, type Model, type Span } from './linearizability.ts';
import type { Answered, RetryingClient } from './retrying-client.ts';

const callers = 16;
const callsPerRound = 12;
/** In most rounds the callers share four groups, and in each eighth one. */
const groupsOf = (round: number) => (round % 8 === 7 ? 1 : 4);
/** In each fourth round the callers pause before their last calls, about as long as most holds last. */
const lastCalls = 6;
const pauseBefore = (left: number, round: number) =>
  left === lastCalls && round % 4 === 1 ? pause(850 + Math.random() * 300) : undefined;
/** A call without an answer can't take effect later than this: a statement ends before. */
const lateMs = 15_000;
/** The clock shows whole milliseconds. */
const clockMs = 2;

/** A call, and how to tell what it did: by its answer, or by the entry in the trail if it had none. */
export interface Chosen<Deed> {
  /** Makes the call, and keeps its answer for `toDeed`. Resolves with undefined if there was none. */
  send(requestId: string): Promise<Answered | undefined>;
  toDeed(error: ConnectError | undefined): Deed;
  toDeedOfEntry(resourceId: number, after: Record<string, string | undefined>): Deed;
  /** The time of the statement that wrote, if the answer tells it; a call without an effect of its own has an older one. */
  writtenAt?(): Timestamp | undefined;
}

/** What was done with the records of a group, which no other group has. */
interface Recorded<Group, Deed> {
  readonly group: Group;
  /** The ids that callers know. */
  readonly known: number[];
  readonly history: (Deed & Span)[];
}

interface Unanswered<Group, Deed> extends Chosen<Deed> {
  readonly requestId: string;
  readonly recorded: Recorded<Group, Deed>;
  readonly begunAt: number;
  readonly endedAt: number;
}

/** The end of a hold to the microsecond, by the id of its record and the end that answers show. */
export type ExactEndOf = (id: number, shown: number) => number;

/** Sixteen callers that change records at random, with keys and without, and know what they were told. */
export abstract class RandomLoad<Group, Deed extends object> {
  calls = 0;
  protected readonly sql: TestDatabase['sql'];
  readonly #holds: { readonly table: string; readonly entries: readonly ResourceType[] };
  readonly #groups: Recorded<Group, Deed>[] = [];
  readonly #unanswered: Unanswered<Group, Deed>[] = [];
  #isOver = false;

  /** @param holds The table of the records that are held, and the types of the audit entries, of which a call leaves one. */
  constructor(sql: TestDatabase['sql'], holds: { readonly table: string; readonly entries: readonly ResourceType[] }) {
    this.sql = sql;
    this.#holds = holds;
  }

  protected abstract readonly clients: readonly Pick<RetryingClient<DescService>, 'failures' | 'close'>[];
  protected abstract addGroup(): Promise<Group>;
  protected abstract choose(group: Group, known: readonly number[]): Chosen<Deed>;
  /** The id that an answer made known. */
  protected abstract idToldBy(deed: Deed): number | undefined;

  /** Makes so many calls, or fewer if it is told to `stop`, in rounds that have groups of their own. */
  async run(calls: number): Promise<void> {
    await this.sql(keepExactEnds(this.#holds.table));
    for (let round = 0; this.calls < calls && !this.#isOver; round += 1) {
      const groups = await Promise.all(Array.from({ length: groupsOf(round) }, () => this.#addRecorded()));
      const callAll = async (caller: number) => {
        const recorded = pick([groups[caller % groups.length]]);
        for (let left = callsPerRound; left > 0; left -= 1) {
          await pauseBefore(left, round);
          await this.#call(recorded);
        }
      };
      await Promise.all(Array.from({ length: callers }, (_caller, index) => callAll(index)));
    }
  }

  /** Has `run` end after the round that it makes. */
  stop(): void {
    this.#isOver = true;
  }

  /** How often attempts failed and were made again, by code and reason. */
  get failures(): [string, number][] {
    return this.clients.flatMap(({ failures }) => [...failures]);
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  /** Resolves with what was done in each group, and how many calls had no answer. */
  protected async readHistories() {
    await this.#resolveUnanswered();
    return { groups: this.#groups, unanswered: this.#unanswered.length };
  }

  protected async readExactEnds(): Promise<ExactEndOf> {
    const rows = await this.sql<{ id: number; shown: number; exact: number }>(
      `select * from exact_ends_of_${this.#holds.table}`,
    );
    const exactEndOf = new Map(rows.map(({ id, shown, exact }) => [`${id} ${shown}`, exact]));
    return (id, shown) => exactEndOf.get(`${id} ${shown}`) ?? shown;
  }

  /** Resolves with what a query reads, and when. */
  protected async read<Row extends object>(text: string): Promise<{ rows: Row[]; span: Span }> {
    const begunAt = Date.now() - clockMs;
    const rows = await this.sql<Row>(text);
    return { rows, span: { begunAt, answeredAt: Date.now() + clockMs } };
  }

  #addRecorded(): Promise<Recorded<Group, Deed>> {
    // Again while PostgreSQL is away, with names of its own, because it may have been added.
    return eventually(async () => {
      const recorded = { group: await this.addGroup(), known: [], history: [] };
      this.#groups.push(recorded);
      return recorded;
    }, 120_000);
  }

  async #call(recorded: Recorded<Group, Deed>): Promise<void> {
    const chosen = this.choose(recorded.group, recorded.known);
    this.calls += 1;
    const begunAt = Date.now() - clockMs;
    const requestId = randomUUID();
    const answered = await chosen.send(requestId);
    const endedAt = Date.now() + clockMs;
    if (answered === undefined) {
      this.#unanswered.push({ ...chosen, requestId, recorded, begunAt, endedAt });
      return;
    }
    const deed = chosen.toDeed(answered.error);
    // An attempt after the first one may have written. This narrows the search for an order of the calls.
    const writtenAt = chosen.writtenAt?.();
    const earliest = writtenAt === undefined ? begunAt : Math.max(begunAt, timestampMs(writtenAt) - clockMs);
    recorded.history.push({ ...deed, begunAt: earliest, answeredAt: endedAt });
    const id = this.idToldBy(deed);
    if (id !== undefined) recorded.known.push(id);
  }

  /** Adds the calls without an answer to the histories if the trail shows that they were carried out. */
  async #resolveUnanswered(): Promise<void> {
    const entries = await this.sql<{
      request_id: string;
      resource_id: number;
      after: Record<string, string | undefined>;
    }>(
      `select request_id, resource_id, after from audit_entries
       where request_id = any($1) and resource_type = any($2)`,
      [this.#unanswered.map(({ requestId }) => requestId), this.#holds.entries],
    );
    for (const { requestId, recorded, begunAt, endedAt, toDeedOfEntry } of this.#unanswered) {
      const entry = entries.find((each) => each.request_id === requestId);
      if (entry === undefined) continue;
      const deed = toDeedOfEntry(entry.resource_id, entry.after);
      recorded.history.push({ ...deed, begunAt, answeredAt: endedAt + lateMs });
    }
  }
}

/**
 * Keeps the ends of holds to the microsecond. Answers show milliseconds, within which a call may see that one hold has run
 * out, and the next call that another one has not.
 */
const keepExactEnds = (table: string) => `
  create table exact_ends_of_${table} (id integer, shown float8, exact float8);
  create function keep_exact_end_of_${table}() returns trigger language plpgsql security definer as $$
  begin
    insert into exact_ends_of_${table} values (
      new.id, floor(extract(epoch from new.held_until) * 1000), extract(epoch from new.held_until) * 1000
    );
    return null;
  end $$;
  create trigger exact_ends_kept after insert or update of held_until on ${table}
    for each row when (new.held_until is not null) execute function keep_exact_end_of_${table}()`;

/** Expects that a history follows from a model of what it began with, which a failure shows. */
export function expectExplained<World, Call extends Span>(
  calls: readonly Call[],
  model: Model<World, Call>,
  beginning: unknown,
): void {
  const anomaly = findAnomaly(calls, model);
  const history = calls.map((call) => JSON.stringify(call, showMaps)).join('\n');
  expect(anomaly, `${JSON.stringify(beginning, showMaps)}\n${history}`).toBeUndefined();
}

const showMaps = (_name: string, value: unknown) => (value instanceof Map ? [...value] : value);

/** Returns a function that makes a call of a client, half of the time with a key. */
export const sendBy =
  <Service extends DescService>(
    client: RetryingClient<Service>,
    send: (api: Client<Service>, options: CallOptions) => Promise<unknown>,
  ) =>
  (requestId: string): Promise<Answered | undefined> =>
    Math.random() < 0.5 ? client.mutate(send) : client.once(send, requestId);

export function pick<Item>(items: readonly Item[]): NonNullable<Item> {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined || item === null) throw new Error('there is nothing to pick');
  return item;
}

/** The reason of an error, which must be one of those expected. */
export function reasonOf<Reason extends string>(error: ConnectError, ...expected: readonly Reason[]): Reason {
  const reason = error.findDetails(ErrorInfoSchema)[0]?.reason;
  const found = expected.find((each) => each === reason);
  if (found === undefined) throw error;
  return found;
}
