import { randomUUID } from 'node:crypto';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { CallOptions, Client, ConnectError } from '@connectrpc/connect';
import { expect } from 'vitest';
import { ValidationRefusal } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import {
  type RedeemResponse,
  type Redemption,
  RedemptionService,
  RedemptionState,
} from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, type Coupons, type Deed, findAnomaly, type State } from './redemption-model.ts';
import { type Ports, RetryingClient } from './retrying-client.ts';

type Api = Client<typeof RedemptionService>;

const callers = 16;
const callsPerRound = 12;
/** In most rounds the callers share four groups, and in each eighth one. */
const groupsOf = (round: number) => (round % 8 === 7 ? 1 : 4);
/** A call without an answer can't take effect later than this: a statement ends before. */
const lateMs = 15_000;
/** The clock shows whole milliseconds. */
const clockMs = 2;

/** Some coupons and orders, which no other group has, and what was done with them. */
interface Group {
  readonly coupons: readonly GroupCoupon[];
  readonly orders: readonly string[];
  readonly secretCode: string;
  /** The redemptions that callers know. */
  readonly known: number[];
  readonly history: Call[];
}

interface GroupCoupon {
  readonly id: number;
  readonly code: string;
  readonly limit: number;
  readonly isExclusive: boolean;
}

/** A call, and how to tell what it did: by its answer, or by the entry in the trail if it had none. */
interface Chosen {
  /** Keeps the answer for `toDeed`. */
  send(api: Api, options: CallOptions): Promise<unknown>;
  toDeed(error: ConnectError | undefined): Deed;
  toDeedOfEntry(resourceId: number, after: Record<string, string | undefined>): Deed;
  /** The time of the statement that wrote, if the answer tells it; a call without an effect of its own has an older one. */
  writtenAt?(): Timestamp | undefined;
}

interface Unanswered extends Chosen {
  readonly requestId: string;
  readonly group: Group;
  readonly begunAt: number;
  readonly endedAt: number;
}

/** Sixteen callers that redeem, confirm, release and claim at random, with keys and without, and know what they were told. */
export class RedemptionLoad {
  readonly client: RetryingClient<typeof RedemptionService>;
  calls = 0;
  readonly #sql: TestDatabase['sql'];
  readonly #groups: Group[] = [];
  readonly #unanswered: Unanswered[] = [];
  #isOver = false;

  constructor(ports: readonly Ports[], token: string, sql: TestDatabase['sql']) {
    this.client = new RetryingClient(RedemptionService, ports, token);
    this.#sql = sql;
  }

  /** Makes so many calls, or fewer if it is told to `stop`, in rounds that have groups of their own. */
  async run(calls: number): Promise<void> {
    await this.#sql(keepExactEnds);
    for (let round = 0; this.calls < calls && !this.#isOver; round += 1) {
      const groups = await Promise.all(Array.from({ length: groupsOf(round) }, () => this.#addGroup()));
      const callAll = async (caller: number) => {
        const group = pick([groups[caller % groups.length]]);
        for (let left = callsPerRound; left > 0; left -= 1) await this.#call(group);
      };
      await Promise.all(Array.from({ length: callers }, (_caller, index) => callAll(index)));
    }
  }

  /** Has `run` end after the round that it makes. */
  stop(): void {
    this.#isOver = true;
  }

  /**
   * Expects that the history of each group, and what the database has of it at the end, follow from the model. Resolves with
   * how many calls had no answer.
   */
  async expectLinearizable(): Promise<number> {
    await this.#resolveUnanswered();
    const exactEnds = await this.#sql<{ id: number; shown: number; exact: number }>('select * from exact_ends');
    const exactEndOf = new Map(exactEnds.map(({ id, shown, exact }) => [`${id} ${shown}`, exact]));
    const begunAt = Date.now() - clockMs;
    const rows = await this.#sql<{ coupon_id: number; states: [number, State][] }>(
      `select coupon_id, json_agg(json_build_array(
         id, case when state = 'HELD' and held_until <= statement_timestamp() then 'EXPIRED' else state end
       )) as states
       from redemptions group by coupon_id`,
    );
    const answeredAt = Date.now() + clockMs;
    const statesOf = new Map(rows.map((row) => [row.coupon_id, row.states]));
    for (const { coupons, history } of this.#groups) {
      const states = new Map(coupons.flatMap(({ id }) => statesOf.get(id) ?? []));
      const list: Call = { kind: 'list', states, begunAt, answeredAt };
      const terms = new Map(coupons.map((coupon) => [coupon.id, coupon]));
      // Claims and redemptions don't concern each other.
      const isClaim = ({ kind }: Call) => kind === 'claim';
      const redemptions = history.filter((call) => !isClaim(call)).map((call) => withExactEnd(call, exactEndOf));
      const parts = [history.filter(isClaim), [...redemptions, list]];
      for (const calls of parts) expectExplained(calls, terms);
    }
    return this.#unanswered.length;
  }

  #addGroup(): Promise<Group> {
    // Again while PostgreSQL is away, with names of its own, because it may have been added.
    return eventually(async () => {
      const name = randomUUID().toUpperCase();
      const terms = [
        { code: `${name}-1`, limit: 1, isExclusive: false },
        { code: `${name}-2`, limit: 2, isExclusive: true },
        { code: `${name}-3`, limit: 0, isExclusive: false },
      ];
      const ids = await this.#sql<{ id: number }>(
        `with reserved as (
           insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ($1, $1, 1, 1)
         )
         insert into coupons (coupon_code, max_limit_for_user, exclusive_apply, is_apply_for_all, flat_discount, created_by)
         select code, "limit", "isExclusive", true, 1, 1
         from json_to_recordset($2) as given (code text, "limit" integer, "isExclusive" boolean)
         returning id`,
        [name, JSON.stringify(terms)],
      );
      const coupons = terms.map((coupon, index) => ({ ...coupon, id: ids[index]?.id ?? 0 }));
      const orders = ['a', 'b', 'c'].map((order) => `${name}-${order}`);
      const group: Group = { coupons, orders, secretCode: name, known: [], history: [] };
      this.#groups.push(group);
      return group;
    }, 120_000);
  }

  async #call(group: Group): Promise<void> {
    const chosen = choose(group);
    this.calls += 1;
    const begunAt = Date.now() - clockMs;
    const requestId = randomUUID();
    const { client } = this;
    const answered = await (Math.random() < 0.5 ? client.mutate(chosen.send) : client.once(chosen.send, requestId));
    const endedAt = Date.now() + clockMs;
    if (answered === undefined) {
      this.#unanswered.push({ ...chosen, requestId, group, begunAt, endedAt });
      return;
    }
    const deed = chosen.toDeed(answered.error);
    // An attempt after the first one may have written. This narrows the search for an order of the calls.
    const writtenAt = chosen.writtenAt?.();
    const earliest = writtenAt === undefined ? begunAt : Math.max(begunAt, timestampMs(writtenAt) - clockMs);
    group.history.push({ ...deed, begunAt: earliest, answeredAt: endedAt });
    if (deed.kind === 'redeem' && typeof deed.answer === 'object' && deed.answer.valid)
      group.known.push(deed.answer.id);
  }

  /** Adds the calls without an answer to the histories if the trail shows that they were carried out. */
  async #resolveUnanswered(): Promise<void> {
    const entries = await this.#sql<{
      request_id: string;
      resource_id: number;
      after: Record<string, string | undefined>;
    }>(
      `select request_id, resource_id, after from audit_entries
       where request_id = any($1) and resource_type <> 'reserved_coupon'`,
      [this.#unanswered.map(({ requestId }) => requestId)],
    );
    for (const { requestId, group, begunAt, endedAt, toDeedOfEntry } of this.#unanswered) {
      const entry = entries.find((each) => each.request_id === requestId);
      if (entry === undefined) continue;
      group.history.push({ ...toDeedOfEntry(entry.resource_id, entry.after), begunAt, answeredAt: endedAt + lateMs });
    }
  }
}

/**
 * Keeps the ends of holds to the microsecond. Answers show milliseconds, within which a call may see that one hold has run
 * out, and the next call that another one has not.
 */
const keepExactEnds = `
  create table exact_ends (id integer, shown float8, exact float8);
  create function keep_exact_end() returns trigger language plpgsql security definer as $$
  begin
    insert into exact_ends values (
      new.id, floor(extract(epoch from new.held_until) * 1000), extract(epoch from new.held_until) * 1000
    );
    return null;
  end $$;
  create trigger exact_ends_kept after insert or update of held_until on redemptions
    for each row when (new.held_until is not null) execute function keep_exact_end()`;

function withExactEnd(call: Call, exactEndOf: ReadonlyMap<string, number>): Call {
  if (call.kind !== 'redeem' || call.answer === 'ORDER_KEY_TAKEN' || !call.answer.valid) return call;
  const { id, heldUntil } = call.answer;
  return { ...call, answer: { ...call.answer, heldUntil: exactEndOf.get(`${id} ${heldUntil}`) ?? heldUntil } };
}

function expectExplained(calls: readonly Call[], coupons: Coupons): void {
  const anomaly = findAnomaly(calls, coupons);
  const history = calls.map((call) => JSON.stringify(call)).join('\n');
  expect(anomaly, `${JSON.stringify([...coupons])}\n${history}`).toBeUndefined();
}

function pick<Item>(items: readonly Item[]): NonNullable<Item> {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined || item === null) throw new Error('there is nothing to pick');
  return item;
}

/** Chooses a call at random: half of them redeem. */
function choose(group: Group): Chosen {
  const chance = Math.random();
  if (chance < 0.5 || group.known.length === 0) return redeem(group);
  if (chance < 0.7) return confirm(pick(group.known));
  if (chance < 0.9) return release(pick(group.known));
  return claim(group.secretCode, pick([1, 2]));
}

function redeem({ coupons, orders }: Group): Chosen {
  const { id: couponId, code } = pick(coupons);
  const [userId, orderKey, holdSeconds] = [pick([1, 2]), pick(orders), pick([0, 1, 1, 900])];
  const asked = { kind: 'redeem', couponId, userId, orderKey } as const;
  let answer: RedeemResponse | undefined;
  return {
    async send(api, options) {
      answer = await api.redeem({ code, userId, orderKey, orderAmount: 10, holdSeconds }, options);
    },
    toDeed(error) {
      if (error !== undefined) return { ...asked, answer: reasonOf(error, 'ORDER_KEY_TAKEN') };
      const { valid, refusal = 0, redemption } = answer ?? {};
      const id = redemption?.id;
      if (!valid) {
        const name = ValidationRefusal[refusal];
        if (name !== 'EXCLUSIVE' && name !== 'LIMIT_REACHED') throw new Error(`an unexpected refusal: ${name}`);
        return { ...asked, answer: { valid: false, refusal: name, id } };
      }
      if (id === undefined || redemption?.state === undefined) throw new Error('a redemption is missing');
      const heldUntil = redemption.heldUntil === undefined ? 0 : timestampMs(redemption.heldUntil);
      // A hold may have run out until its answer was made.
      const state = redemption.state === RedemptionState.USED ? 'USED' : 'HELD';
      return { ...asked, answer: { valid: true, id, state, heldUntil } };
    },
    // A hold tells when it began.
    writtenAt() {
      const { heldUntil, usedAt } = (answer?.valid && answer.redemption) || {};
      return usedAt ?? (heldUntil && { ...heldUntil, seconds: heldUntil.seconds - BigInt(holdSeconds) });
    },
    toDeedOfEntry: (id, { state, heldUntil }) => ({
      ...asked,
      answer: {
        ...{ valid: true, id, state: state === 'REDEMPTION_STATE_USED' ? 'USED' : 'HELD' },
        heldUntil: heldUntil === undefined ? 0 : Date.parse(heldUntil),
      },
    }),
  };
}

function confirm(id: number): Chosen {
  let redemption: Redemption | undefined;
  const confirmed: Deed = { kind: 'confirm', id, answer: 'USED' };
  return {
    async send(api, options) {
      ({ redemption } = await api.confirm({ redemptionId: id }, options));
    },
    toDeed: (error) =>
      error === undefined
        ? confirmed
        : { ...confirmed, answer: reasonOf(error, 'HOLD_EXPIRED', 'REDEMPTION_RELEASED') },
    toDeedOfEntry: () => confirmed,
    writtenAt: () => redemption?.usedAt,
  };
}

function release(id: number): Chosen {
  let redemption: Redemption | undefined;
  const released: Deed = { kind: 'release', id };
  return {
    async send(api, options) {
      ({ redemption } = await api.release({ redemptionId: id }, options));
    },
    toDeed(error) {
      if (error !== undefined) throw error;
      return released;
    },
    toDeedOfEntry: () => released,
    writtenAt: () => redemption?.releasedAt,
  };
}

function claim(secretCode: string, userId: number): Chosen {
  const asked = { kind: 'claim', secretCode, userId } as const;
  let couponId = 0;
  return {
    async send(api, options) {
      couponId = (await api.claim({ secretCode, userId }, options)).coupon?.id ?? 0;
    },
    toDeed: (error) => ({
      ...asked,
      answer: error === undefined ? { couponId } : reasonOf(error, 'SECRET_CODE_CLAIMED'),
    }),
    toDeedOfEntry: (id) => ({ ...asked, answer: { couponId: id } }),
  };
}

/** The reason of an error, which must be one of those expected. */
function reasonOf<Reason extends string>(error: ConnectError, ...expected: readonly Reason[]): Reason {
  const reason = error.findDetails(ErrorInfoSchema)[0]?.reason;
  const found = expected.find((each) => each === reason);
  if (found === undefined) throw error;
  return found;
}
