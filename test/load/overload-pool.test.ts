import { ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { holding, lockSlots } from '../support/locks.ts';
import { scrape } from '../support/scrape.ts';
import { withToken } from '../support/tokens.ts';
import { isServing, startTarget, type Target } from './overload-stage.ts';

const connections = 10;
/** The calls that may wait for the connections of a process. */
const maxWaiting = 1_000;
const callers = 1_300;

const textOf = (thrown: unknown) => ConnectError.from(thrown).rawMessage;

describe('A service whose database hangs', () => {
  let target: Target;
  beforeAll(async () => {
    target = await startTarget({ MAX_CALLS_IN_FLIGHT: '5000', SLOT_METRICS_PORT: '0' });
  });
  afterAll(() => target.stop());

  it('When the database hangs, no more than 1,000 calls wait for a connection, and calls succeed afterwards', async () => {
    const baseUrl = `http://127.0.0.1:${target.replica.ports.webPort}`;
    const transport = withToken(createConnectTransport({ baseUrl, httpVersion: '1.1' }), target.token);
    const slots = createClient(SlotService, transport);
    const metricsPort = Number(target.replica.log.find(({ msg }) => msg === 'serving')?.metricsPort);
    const waiting = async () => (await scrape(metricsPort)).value('db_pool_waiting') ?? Number.NaN;

    const outcomeOf = () => slots.getSlots({}).then(() => 'answered', textOf);
    await holding(target.database.url, lockSlots, async (lock) => {
      // A call fails when the busy machine opens its connection too late: it is made again until all are taken.
      let areTaken = false;
      const first = Array.from({ length: connections }, async () => {
        for (;;) {
          const outcome = await outcomeOf();
          if (areTaken || outcome === 'answered') return outcome;
        }
      });
      await lock.untilAwaited(connections);
      areTaken = true;

      let ended = 0;
      const others = Array.from({ length: callers }, async () => {
        const outcome = await outcomeOf();
        ended += 1;
        return outcome;
      });
      let most = 0;
      // Calls that may not wait fail at once, and those that wait fail after a while.
      while (ended < callers - connections) most = Math.max(most, await waiting());
      await lock.release();
      const outcomes = await Promise.all([...first, ...others]);
      expect(new Set(outcomes)).toEqual(new Set(['answered', 'Too many calls wait for the database']));
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(maxWaiting);
    });
    expect(await waiting()).toBe(0);
    expect(await isServing(target)).toBe(true);
  });
});
