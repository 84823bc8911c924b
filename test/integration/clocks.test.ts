import { createClient } from '@connectrpc/connect';
import { credentials, Client as GrpcClient } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { failureOf } from '../support/contract.ts';
import { fakeClock, noFaketime } from '../support/faketime.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import type { Replica } from '../support/replica.ts';
import { scrape } from '../support/scrape.ts';
import { Stage } from '../support/stage.ts';
import { signToken, withToken } from '../support/tokens.ts';

const reason = noFaketime === undefined ? '' : ` (skipped: ${noFaketime})`;

// By the database's time: one froze and one was delivered 5 min ago, two are open for an hour and for 3 days.
const slots = `
  insert into slots (id, delivery_time, freeze_time)
  select id, now() + delivered::interval, now() + frozen::interval from (values
    (1, '1 day', '-5 min'), (2, '-5 min', '1 day'), (3, '1 hour', '1 hour'), (4, '3 days', '3 days')
  ) as given (id, delivered, frozen);
  insert into store_refresh_requests default values`;

/** Starts slot-service on a machine whose clock is off. */
async function startAt(offset: string) {
  const stage = await Stage.open();
  const clock = await fakeClock(offset);
  onTestFinished(async () => {
    await stage.close();
    await clock.remove();
  });
  await stage.database.sql(slots);
  const metricsPort = await findFreePort();
  const replica = await stage.start({ env: { ...clock.env, SLOT_METRICS_PORT: String(metricsPort) } });
  const isReady = async () => (await fetch(`http://127.0.0.1:${replica.ports.webPort}/readyz`)).status === 200;
  const offsetSeconds = async () => (await scrape(metricsPort)).value('clock_offset_seconds');
  return { replica, clock, isReady, offsetSeconds };
}

const clockLines = ({ log }: Replica) =>
  log
    .filter(({ msg }) => String(msg).startsWith('the clock of this machine is'))
    .map(({ msg }) => String(msg).split(',')[0]);
const openIds = async ({ stores }: Replica) => (await stores.getOpenSlots({})).slots.map(({ id }) => id);

/** Calls with a token that expires so many seconds from now: its code, or OK. */
async function outcomeOf({ ports }: Replica, expiresIn: number): Promise<string> {
  const transport = createGrpcJsTransport(`127.0.0.1:${ports.grpcPort}`);
  onTestFinished(() => transport.close());
  const stores = createClient(SlotStoreService, withToken(transport, await signToken({ expiresIn })));
  return stores.getOpenSlots({}).then(
    () => 'OK',
    async (error) => (await failureOf(Promise.reject(error))).rawMessage,
  );
}

function healthOf({ ports }: Replica): Promise<string> {
  const client = new GrpcClient(`127.0.0.1:${ports.grpcPort}`, credentials.createInsecure());
  const { Check: check } = healthService;
  if (check === undefined) throw new Error('the health service has no check');
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      check.path,
      check.requestSerialize,
      check.responseDeserialize,
      { service: '' },
      (error, answer) => {
        client.close();
        resolve(error?.details ?? JSON.stringify(answer));
      },
    );
  });
}

describe.skipIf(noFaketime)(`A replica whose clock is off${reason}`, () => {
  it.each(['-10m', '+0', '+1d'])(
    'At %s it shows the slots that are open by the time of the database',
    async (offset) => {
      const { replica } = await startAt(offset);
      expect(await openIds(replica)).toEqual([3, 4]);
    },
  );

  it.each(['-10m', '+1d'])('At %s it takes good tokens, and no expired ones', async (offset) => {
    const { replica } = await startAt(offset);
    expect(await outcomeOf(replica, 300)).toBe('OK');
    expect(await outcomeOf(replica, -300)).toBe('Authentication required');
  });

  it.each(['-2m', '+2m'])('At %s it is not ready, which its log and its metric explain', async (offset) => {
    const { replica, isReady, offsetSeconds } = await startAt(offset);
    expect(await isReady()).toBe(false);
    expect(await healthOf(replica)).toBe('{"status":"NOT_SERVING"}');
    await expect.poll(() => clockLines(replica)).toEqual(['the clock of this machine is wrong']);
    expect(Math.abs(Number(await offsetSeconds()) - (offset === '+2m' ? 120 : -120))).toBeLessThan(5);
  });

  it('With the right clock it is ready, and its log says nothing', async () => {
    const { replica, isReady, offsetSeconds } = await startAt('+0');
    expect(await isReady()).toBe(true);
    expect(await healthOf(replica)).toBe('{"status":"SERVING"}');
    expect(clockLines(replica)).toEqual([]);
    expect(Math.abs(Number(await offsetSeconds()))).toBeLessThan(5);
  });

  it('A clock that jumps changes no answer: each change is one line of the log, and beyond a minute it is not ready', async () => {
    const { replica, clock, isReady, offsetSeconds } = await startAt('+0');
    await clock.set('+30');
    await expect.poll(async () => Math.round(Number(await offsetSeconds()) / 10)).toBe(3);
    await expect.poll(() => clockLines(replica)).toEqual(['the clock of this machine is off']);
    expect(await isReady()).toBe(true);
    await clock.set('+1d');
    await expect.poll(isReady).toBe(false);
    expect(await openIds(replica)).toEqual([3, 4]);
    expect(await outcomeOf(replica, -300)).toBe('Authentication required');
    await clock.set('+0');
    await expect.poll(isReady).toBe(true);
    const told = () => clockLines(replica).map((line) => line?.split(' ').at(-1));
    await expect.poll(told).toEqual(['off', 'wrong', 'right']);
  });
});
