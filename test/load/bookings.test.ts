import { expect, it, onTestFinished } from 'vitest';
import { startTestService } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import { BookingLoad, expectCounted } from './booking-load.ts';

it('Sixteen callers over two replicas overbook no slot, and lose and double nothing: 3,000 calls are linearizable', async () => {
  const first = await startTestService('slot');
  const second = await startTestService('slot', undefined, first.database);
  const load = new BookingLoad([first, second], await signToken({ staffId: 1 }), first.database.sql);
  onTestFinished(async () => {
    load.close();
    await second.stop();
    await first.stop();
  });
  await load.run(3_000);
  const { unanswered, answers } = await load.expectLinearizable();
  console.info(JSON.stringify([...answers]));
  expect(unanswered).toBe(0);
  await expectCounted(first.database.sql);
});
