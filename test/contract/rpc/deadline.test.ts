import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { failureOf, slotContract } from '../../support/contract.ts';
import { getSlotsPattern, holding, lockSlots } from '../../support/locks.ts';
import { protocols } from '../../support/protocols.ts';

slotContract.over(protocols)('Deadlines', (api) => {
  it('A call ends at its deadline, and so does its statement', async () => {
    await holding(api.databaseUrl, lockSlots, async (lock) => {
      const error = await failureOf(api.staff.getSlots({}, { timeoutMs: 200 }));
      expect(Code[error.code]).toBe('DeadlineExceeded');
      await expect.poll(() => lock.waiting(getSlotsPattern)).toBe(0);
    });
  });

  it('A call ends when its client cancels it, and so does its statement', async () => {
    await holding(api.databaseUrl, lockSlots, async (lock) => {
      const client = new AbortController();
      const call = failureOf(api.staff.getSlots({}, { signal: client.signal }));
      await lock.untilAwaited(1, getSlotsPattern);
      client.abort();
      expect(Code[(await call).code]).toBe('Canceled');
      await expect.poll(() => lock.waiting(getSlotsPattern)).toBe(0);
      await expect.poll(() => api.log.findLast(({ msg }) => msg === 'call')?.code).toBe('CANCELED');
    });
  });

  it('A call that waits for a connection to the database ends at its deadline', async () => {
    await holding(api.databaseUrl, lockSlots, async () => {
      const callers = Array.from({ length: 14 }, () => failureOf(api.staff.getSlots({}, { timeoutMs: 300 })));
      for (const error of await Promise.all(callers)) expect(Code[error.code]).toBe('DeadlineExceeded');
    });
    await api.staff.getSlots({});
  });
});
