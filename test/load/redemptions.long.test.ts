import { expect, it } from 'vitest';
import { startCrashingPostgres } from '../support/crashing-postgres.ts';
import { RedemptionLoad } from './redemption-load.ts';
import { startPair } from './replica-pair.ts';

it('70,000 calls over forty kills of replicas and five crashes of PostgreSQL are linearizable', {
  timeout: 3_600_000,
}, async () => {
  const server = await startCrashingPostgres();
  const { load, runOverKills } = await startPair(
    'coupon',
    server.url,
    (ports, token) => new RedemptionLoad(ports, token, server.sql),
  );
  await runOverKills(70_000, 40, async (n) => {
    if (n % 8 === 0) await server.crash();
  });
  const unanswered = await load.expectLinearizable();
  console.info(`${load.calls} calls, ${unanswered} of them without an answer; ${JSON.stringify(load.failures)}`);
  expect(unanswered).toBeGreaterThan(0);
});
