import { expect, it, onTestFinished } from 'vitest';
import { startTestService } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import { RedemptionLoad } from './redemption-load.ts';

it('Sixteen callers over two replicas exceed no limit, and lose and double nothing: 3,000 calls are linearizable', async () => {
  const first = await startTestService('coupon');
  const second = await startTestService('coupon', undefined, first.database);
  const load = new RedemptionLoad([first, second], await signToken({ staffId: 1 }), first.database.sql);
  onTestFinished(async () => {
    load.close();
    await second.stop();
    await first.stop();
  });
  await load.run(3_000);
  expect(await load.expectLinearizable()).toBe(0);
});
