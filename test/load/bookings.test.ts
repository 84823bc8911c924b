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
  expect(unanswered).toBe(0);
  const outcomes = [
    'book NO_ROOM',
    'book MARKED_FULL',
    'move DONE',
    'move NO_ROOM',
    'move ORDER_KEY_TAKEN',
    'setCapacity DONE',
  ];
  expect([...answers.keys()]).toEqual(expect.arrayContaining(outcomes));
  await expectCounted(first.database.sql);
});
