import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { CallOptions, Client } from '@connectrpc/connect';
import { CouponService, ValidationRefusal } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import {
  type RedeemResponse,
  type Redemption,
  RedemptionService,
  RedemptionState,
} from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { TestDatabase } from '../support/database.ts';
import { type Chosen, type ExactEndOf, expectExplained, pick, RandomLoad, reasonOf, sendBy } from './random-load.ts';
import { type Call, type Deed, redemptionModel, type State } from './redemption-model.ts';
import { type Ports, RetryingClient } from './retrying-client.ts';

type Api = Client<typeof RedemptionService>;

/** Some coupons and orders. */
interface Group {
  readonly coupons: readonly GroupCoupon[];
  readonly orders: readonly string[];
  readonly secretCode: string;
}

interface GroupCoupon {
  readonly id: number;
  readonly code: string;
  readonly limit: number;
  readonly maxUses: number;
  readonly isExclusive: boolean;
}

/** A call to RedemptionService. */
interface Redeeming extends Omit<Chosen<Deed>, 'send'> {
  send(api: Api, options: CallOptions): Promise<unknown>;
}

/** Callers that redeem, confirm, release and claim, and staff who limit the uses of all users. */
export class RedemptionLoad extends RandomLoad<Group, Deed> {
  protected readonly clients: readonly [RetryingClient<typeof RedemptionService>, RetryingClient<typeof CouponService>];

  constructor(ports: readonly Ports[], token: string, sql: TestDatabase['sql']) {
    super(sql, { table: 'redemptions', entries: ['redemption', 'coupon'] });
    this.clients = [
      new RetryingClient(RedemptionService, ports, token),
      new RetryingClient(CouponService, ports, token),
    ];
  }

  /**
   * Expects that the history of each group, and what the database has of it at the end, follow from the model. Resolves with
   * how many calls had no answer.
   */
  async expectLinearizable(): Promise<number> {
    const { groups, unanswered } = await this.readHistories();
    const exactEndOf = await this.readExactEnds();
    const { rows, span } = await this.read<{ coupon_id: number; states: [number, State][] }>(
      `select coupon_id, json_agg(json_build_array(
         id, case when state = 'HELD' and held_until <= statement_timestamp() then 'EXPIRED' else state end
       )) as states
       from redemptions group by coupon_id`,
    );
    const statesOf = new Map(rows.map((row) => [row.coupon_id, row.states]));
    for (const { group, history } of groups) {
      const states = new Map(group.coupons.flatMap(({ id }) => statesOf.get(id) ?? []));
      const list: Call = { kind: 'list', states, ...span };
      const terms = new Map(group.coupons.map((coupon) => [coupon.id, coupon]));
      // Claims and redemptions don't concern each other.
      const isClaim = ({ kind }: Call) => kind === 'claim';
      const redemptions = history.filter((call) => !isClaim(call)).map((call) => withExactEnd(call, exactEndOf));
      const parts = [history.filter(isClaim), [...redemptions, list]];
      for (const calls of parts) expectExplained(calls, redemptionModel(terms), terms);
    }
    return unanswered;
  }

  protected async addGroup(): Promise<Group> {
    const name = randomUUID().toUpperCase();
    const terms = [
      { code: `${name}-1`, limit: 1, maxUses: 0, isExclusive: false },
      { code: `${name}-2`, limit: 2, maxUses: 0, isExclusive: true },
      { code: `${name}-3`, limit: 0, maxUses: 2, isExclusive: false },
    ];
    const ids = await this.sql<{ id: number }>(
      `with reserved as (
         insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ($1, $1, 1, 1)
       )
       insert into coupons (
         coupon_code, max_limit_for_user, max_uses, exclusive_apply, is_apply_for_all, flat_discount, created_by
       )
       select code, "limit", "maxUses", "isExclusive", true, 1, 1
       from json_to_recordset($2) as given (code text, "limit" integer, "maxUses" integer, "isExclusive" boolean)
       returning id`,
      [name, JSON.stringify(terms)],
    );
    const coupons = terms.map((coupon, index) => ({ ...coupon, id: ids[index]?.id ?? 0 }));
    const orders = ['a', 'b', 'c'].map((order) => `${name}-${order}`);
    return { coupons, orders, secretCode: name };
  }

  protected choose(group: Group, known: readonly number[]): Chosen<Deed> {
    const [redemptions, coupons] = this.clients;
    if (Math.random() < 0.06) return limit(coupons, pick(group.coupons).id, pick([0, 1, 2, 3]));
    const chosen = choose(group, known);
    return { ...chosen, send: sendBy(redemptions, chosen.send) };
  }

  protected idToldBy(deed: Deed): number | undefined {
    return deed.kind === 'redeem' && typeof deed.answer === 'object' && deed.answer.valid ? deed.answer.id : undefined;
  }
}

function withExactEnd(call: Call, exactEndOf: ExactEndOf): Call {
  if (call.kind !== 'redeem' || call.answer === 'ORDER_KEY_TAKEN' || !call.answer.valid) return call;
  const { id, heldUntil } = call.answer;
  return { ...call, answer: { ...call.answer, heldUntil: exactEndOf(id, heldUntil) } };
}

/** Chooses a call at random: half of them redeem. */
function choose(group: Group, known: readonly number[]): Redeeming {
  const chance = Math.random();
  if (chance < 0.5 || known.length === 0) return redeem(group);
  if (chance < 0.7) return confirm(pick(known));
  if (chance < 0.9) return release(pick(known));
  return claim(group.secretCode, pick([1, 2]));
}

function redeem({ coupons, orders }: Group): Redeeming {
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
        if (name !== 'EXCLUSIVE' && name !== 'LIMIT_REACHED' && name !== 'USED_UP')
          throw new Error(`an unexpected refusal: ${name}`);
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

function limit(coupons: RetryingClient<typeof CouponService>, couponId: number, maxUses: number): Chosen<Deed> {
  const limited: Deed = { kind: 'limit', couponId, maxUses };
  return {
    send: sendBy(coupons, (api, options) => api.update({ id: couponId, updates: { coupon: { maxUses } } }, options)),
    toDeed(error) {
      if (error !== undefined) throw error;
      return limited;
    },
    toDeedOfEntry: () => limited,
  };
}

function confirm(id: number): Redeeming {
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

function release(id: number): Redeeming {
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

function claim(secretCode: string, userId: number): Redeeming {
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
