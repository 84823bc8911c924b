import { setTimeout as pause } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { expect } from 'vitest';
import type { ServiceName } from '../../shared/config/config.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import {
  batchMutations,
  couponMutations,
  type Mutations,
  type PreparedMutation,
  planMutations,
  slotMutations,
} from '../support/mutations.ts';
import { Replica, type ReplicaOptions } from '../support/replica.ts';
import { signToken } from '../support/tokens.ts';
import { type Answered, type Ports, RetryingClient } from './retrying-client.ts';

type Sql = TestDatabase['sql'];

/** Slot-service and coupon-service in turns. */
const services = ['slot', 'coupon', 'slot', 'coupon'] as const;
const callers = 8;
/** Each caller of copies would need days that no other copy has, for hours. */
const { CopySlots: _copies, ...ofPlan } = planMutations;
const mutations = { ...slotMutations, ...ofPlan, ...couponMutations, ...batchMutations };
/** Between two mutations of a caller: each is checked at the end. */
const pauseMs = 25;

/** A mutation that was acknowledged. */
interface Acknowledged extends Answered {
  readonly name: string;
  readonly changes: readonly string[];
  /** Sends it once more with its key. Resolves with the answer, and whether that is a replay. */
  again(): Promise<{ answer: unknown; isReplay: boolean }>;
}

/** Two replicas of each service on one database, with clients that make their mutations, each until it is answered. */
export class ChaosStage {
  readonly acknowledged: Acknowledged[] = [];
  /** The errors of mutations that were not carried out. */
  readonly judged: string[] = [];
  readonly replicas: Replica[];
  readonly slots: RetryingClient<typeof SlotService>;
  readonly coupons: RetryingClient<typeof CouponService>;
  readonly #plans: RetryingClient<typeof SlotPlanService>;
  readonly #batches: RetryingClient<typeof CouponBatchService>;
  readonly #sql: Sql;
  #isOver = false;
  readonly #calling: Promise<void>[] = [];

  private constructor(sql: Sql, replicas: Replica[], token: string) {
    this.#sql = sql;
    this.replicas = replicas;
    this.slots = new RetryingClient(SlotService, this.portsOf('slot'), token);
    this.coupons = new RetryingClient(CouponService, this.portsOf('coupon'), token);
    this.#plans = new RetryingClient(SlotPlanService, this.portsOf('slot'), token);
    this.#batches = new RetryingClient(CouponBatchService, this.portsOf('coupon'), token);
  }

  /** @param optionsOf further options of each replica, by its place. */
  static async start(
    databaseUrl: string,
    sql: Sql,
    optionsOf: (index: number) => Partial<ReplicaOptions> = () => ({}),
  ): Promise<ChaosStage> {
    const replicas = await Promise.all(
      services.map((service, index) => Replica.start({ ...optionsOf(index), service, databaseUrl })),
    );
    return new ChaosStage(sql, replicas, await signToken({ staffId: 1 }));
  }

  /** The ports of a service's replicas, which they keep. */
  portsOf(service: ServiceName): Ports[] {
    return this.replicas.filter((_, n) => services[n] === service).map(({ ports }) => ports);
  }

  /** Has eight callers make one mutation after the other. */
  load(): void {
    for (let n = 0; n < callers - 2; n += 1) {
      if (n % 2 === 0) this.#callEach(slotMutations, this.slots, n);
      else this.#callEach(couponMutations, this.coupons, n);
    }
    this.#callEach(ofPlan, this.#plans, 0);
    this.#callEach(batchMutations, this.#batches, 0);
  }

  /** Does some work again and again, until the load ends. */
  repeat(work: () => Promise<void>): void {
    const run = async () => {
      while (!this.#isOver) await work();
    };
    const running = run();
    // Who ends the load gets the error.
    running.catch(() => undefined);
    this.#calling.push(running);
  }

  /** Waits until each caller has had an answer, on the average. */
  async untilProgress(): Promise<void> {
    const goal = this.acknowledged.length + callers;
    const isReached = () => this.acknowledged.length >= goal || this.judged.length > 0;
    await expect.poll(isReached, { timeout: 60_000 }).toBe(true);
  }

  /** Ends the load, once each mutation is answered. */
  async endLoad(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#calling);
  }

  /** Makes one mutation until it is answered, and keeps it to be checked. */
  async mutate<Service extends DescService>(
    name: string,
    mutation: Pick<PreparedMutation<Client<Service>>, 'changes' | 'call'>,
    client: RetryingClient<Service>,
  ): Promise<void> {
    const answered = await client.mutate((api, options) => mutation.call(api, options));
    if (answered.error !== undefined) this.judged.push(`${name}: ${answered.error.message}`);
    const again = () => sendAgain(client, mutation, answered.key);
    this.acknowledged.push({ ...answered, name, changes: mutation.changes, again });
  }

  /** Ends a replica as `kill -9` does, and starts it again on its ports once `meanwhile` is over. */
  async killReplica(index: number, meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    const killed = this.replicas[index];
    if (killed === undefined) throw new Error(`there is no replica ${index}`);
    // At any moment of a call.
    await pause(Math.random() * 50);
    await killed.kill();
    await meanwhile();
    this.replicas[index] = await killed.startAgain();
  }

  /** Kills replicas forty times in turns under its load, every eighth time together with PostgreSQL, then ends the load. */
  async survive(server: { crash(): Promise<void> }): Promise<void> {
    this.load();
    for (let kill = 1; kill <= 40; kill += 1) {
      await this.untilProgress();
      await this.killReplica(kill % this.replicas.length, async () => {
        if (kill % 8 === 0) await server.crash();
      });
    }
    await this.endLoad();
  }

  /**
   * Expects that each of its mutations was carried out once, and left its entries, and that its key still has its first answer.
   * Loads beside it are to call with tokens of other subjects.
   */
  async expectAllWrittenOnce(): Promise<void> {
    expect(this.judged).toEqual([]);
    expect(new Set(this.acknowledged.map(({ name }) => name))).toEqual(new Set(Object.keys(mutations)));
    // Some were carried out, and their answers were lost.
    expect(this.acknowledged.some(({ attempts }) => attempts > 1)).toBe(true);
    const written = await this.#sql<{ request_id: string; types: string[] }>(
      `select request_id, array_agg(resource_type order by resource_type) as types from audit_entries
       where subject = 'tester' group by request_id`,
    );
    const byKey = (rows: readonly (readonly [string, readonly string[]])[]) => Object.fromEntries(rows.toSorted());
    expect(byKey(written.map(({ request_id, types }) => [request_id, types]))).toEqual(
      byKey(this.acknowledged.map(({ key, changes }) => [key, changes])),
    );
    const phoneCoupons = await this.#sql<{ count: string }>(
      `select count(*) from coupon_applicable_users join users on users.id = user_id
       where mobile like '6%' group by mobile`,
    );
    expect(phoneCoupons.every(({ count }) => count === '1')).toBe(true);
    for (let at = 0; at < this.acknowledged.length; at += callers) {
      const some = this.acknowledged.slice(at, at + callers);
      const answers = await Promise.all(some.map(({ again }) => again()));
      expect(answers).toEqual(some.map(({ answer }) => ({ answer, isReplay: true })));
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    for (const client of [this.slots, this.coupons, this.#plans, this.#batches]) client.close();
    await Promise.all(this.replicas.map((replica) => replica.kill()));
  }

  #callEach<Service extends DescService>(
    mutations: Mutations<Client<Service>>,
    client: RetryingClient<Service>,
    first: number,
  ): void {
    const entries = Object.entries(mutations);
    let n = first;
    this.repeat(async () => {
      const [name, prepare] = entries[n % entries.length] ?? [];
      if (name === undefined || prepare === undefined) throw new Error('there are no mutations');
      n += 1;
      // While PostgreSQL is away it can't be prepared.
      const mutation = await eventually(() => prepare(this.#sql));
      await this.mutate(name, mutation, client);
      await pause(pauseMs);
    });
  }
}

async function sendAgain<Service extends DescService>(
  client: RetryingClient<Service>,
  mutation: Pick<PreparedMutation<Client<Service>>, 'call'>,
  key: string,
): Promise<{ answer: unknown; isReplay: boolean }> {
  let isReplay = false;
  const onHeader = (headers: Headers) => {
    isReplay = headers.get('idempotent-replayed') === 'true';
  };
  const options = { headers: { 'idempotency-key': key }, onHeader };
  const answer = await client.query((api) => mutation.call(api, options));
  return { answer, isReplay };
}
