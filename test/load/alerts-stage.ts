import { EventEmitter, once, setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import type { ServiceName } from '../../shared/config/config.ts';
import { EventReceiver } from '../support/event-receiver.ts';
import { eventually } from '../support/eventually.ts';
import type { Target } from '../support/prometheus.ts';
import { startDatabaseProxy, type TcpProxy, viaPort } from '../support/proxy.ts';
import { RedisServer } from '../support/redis.ts';
import type { Replica } from '../support/replica.ts';
import { createSlot } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';

type Env = Readonly<Record<string, string>>;

interface Parts {
  readonly stage: Stage;
  readonly redis: RedisServer;
  /** Gets the webhooks of the first replica of each service. */
  readonly receiver: EventReceiver;
  /** Leads all replicas to their database. */
  readonly proxy: TcpProxy;
  /** Leads the second replica to the database for what needs a session of its own. */
  readonly directProxy: TcpProxy;
  readonly targets: readonly Target[];
}

/** Two replicas of slot-service and one of coupon-service, which are called all the time. */
export class Deployment {
  readonly parts: Parts;
  /** The first replica of slot-service, which gets all writes. */
  one: Replica;
  two: Replica;
  coupon: Replica;
  readonly #stopped = new AbortController();
  readonly #writes = new EventEmitter();
  readonly #callers: Promise<void>[] = [];

  private constructor(parts: Parts, one: Replica, two: Replica, coupon: Replica) {
    this.parts = parts;
    [this.one, this.two, this.coupon] = [one, two, coupon];
  }

  /** @param env further variables of the first replica of each service. */
  static async open(env: Env): Promise<Deployment> {
    const redis = await RedisServer.start();
    const stage = await Stage.on(redis);
    await stage.database.sql(`insert into users (id, name, mobile) values (1, 'Ravi Iyer', '9000000001')`);
    const [proxy, directProxy] = [await startDatabaseProxy(), await startDatabaseProxy()];
    const receiver = await EventReceiver.start();
    const events = { EVENTS_URL: receiver.url, EVENTS_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}` };
    const targets: Target[] = [];
    const start = async (service: ServiceName, instance: string, variables: Env) => {
      const port = await findFreePort();
      targets.push({ job: `${service}-service`, instance, port });
      const metrics = { [`${service.toUpperCase()}_METRICS_PORT`]: String(port) };
      const databaseUrl = viaPort(stage.database.url, proxy.port);
      return stage.start({ service, databaseUrl, refreshDelayMs: 2_000, env: { ...metrics, ...variables } });
    };
    const one = await start('slot', 'slot-1', { ...env, ...events });
    const two = await start('slot', 'slot-2', { DATABASE_DIRECT_URL: viaPort(stage.database.url, directProxy.port) });
    const coupon = await start('coupon', 'coupon-1', { ...env, ...events });
    const deployment = new Deployment({ stage, redis, receiver, proxy, directProxy, targets }, one, two, coupon);
    await deployment.#callAlways();
    return deployment;
  }

  async #callAlways(): Promise<void> {
    const { slotId } = await createSlot(this.one);
    await this.coupon.coupons.create({ coupon: { couponCode: 'WELCOME', discountPercent: 1 } });
    const options = { timeoutMs: 5_000 };
    this.call(500, () => this.one.slots.getSlotById({ id: slotId }, options));
    this.call(500, () => this.two.slots.getSlotById({ id: slotId }, options));
    this.call(500, () => this.coupon.coupons.validate({ code: 'WELCOME', userId: 1, orderAmount: 10 }, options));
    let isCapacityFull = false;
    this.call(3_000, async () => {
      isCapacityFull = !isCapacityFull;
      await this.one.slots.updateSlotCapacity({ slotId, isCapacityFull }, options);
      this.#writes.emit('written');
    });
  }

  /** Resolves after the next write, once its webhook is delivered; its refresh of the stores is due two seconds after it. */
  async untilWritten(): Promise<void> {
    await once(this.#writes, 'written');
    const undelivered = `select from audit_entries join webhook_deliveries on sent_id < id
      where service = 'slot-service' and resource_type = 'slot'`;
    await eventually(async () => expect(await this.parts.stage.database.sql(undelivered)).toEqual([]));
  }

  /** Makes a call again and again until the signal aborts, whatever becomes of it. */
  call(everyMs: number, call: () => Promise<unknown>, signal = this.#stopped.signal): void {
    setMaxListeners(0, signal);
    const repeat = async () => {
      while (!signal.aborted) {
        await call().catch(() => undefined);
        await pause(everyMs, undefined, { signal }).catch(() => undefined);
      }
    };
    this.#callers.push(repeat());
  }

  async close(): Promise<void> {
    const { stage, receiver, proxy, directProxy } = this.parts;
    this.#stopped.abort();
    await Promise.all(this.#callers);
    // The stage does not know those that were started again.
    await Promise.all([this.one.kill(), this.two.kill(), this.coupon.kill()]);
    await stage.close();
    await Promise.all([receiver.stop(), proxy.cut(), directProxy.cut()]);
  }
}
