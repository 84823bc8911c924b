import { ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { withToken } from '../support/replica.ts';
import { scrape } from '../support/scrape.ts';
import { isServing, lockSlots, startTarget, type Target } from './overload-stage.ts';

/** Of the ten connections of a process. */
const maxWaiting = 1_000;
const callers = 1_300;

const textOf = (thrown: unknown) => ConnectError.from(thrown).rawMessage;

describe('A service whose database stands still', () => {
  let target: Target;
  beforeAll(async () => {
    target = await startTarget({ MAX_CALLS_IN_FLIGHT: '5000', SLOT_METRICS_PORT: '0' });
  });
  afterAll(() => target.stop());

  it('lets no more than 1,000 calls wait for a connection, and serves once it goes on', async () => {
    const baseUrl = `http://127.0.0.1:${target.replica.ports.webPort}`;
    const transport = withToken(createConnectTransport({ baseUrl, httpVersion: '1.1' }), target.token);
    const slots = createClient(SlotService, transport);
    const metricsPort = Number(target.replica.log.find(({ msg }) => msg === 'serving')?.metricsPort);
    const waiting = async () => (await scrape(metricsPort)).value('db_pool_waiting') ?? Number.NaN;

    const unlock = await lockSlots(target);
    let ended = 0;
    const calls = Array.from({ length: callers }, async () => {
      const outcome = await slots.getSlots({}).then(() => 'answered', textOf);
      ended += 1;
      return outcome;
    });
    let most = 0;
    // What could not wait has ended at once, what waited in vain after a while; ten run.
    while (ended < callers - 10) most = Math.max(most, await waiting());
    await unlock();
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['answered', 'Too many calls wait for the database']));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(maxWaiting);
    expect(await waiting()).toBe(0);
    expect(await isServing(target)).toBe(true);
  });
});
