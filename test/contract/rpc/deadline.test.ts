import { Code } from '@connectrpc/connect';
import pg from 'pg';
import { expect, it } from 'vitest';
import { failureOf, slotContract } from '../../support/contract.ts';

slotContract('A call', (api) => {
  /** Runs `work` while every read of the slots waits. */
  async function withLockedSlots(work: () => Promise<void>): Promise<void> {
    const locker = new pg.Client({ connectionString: api.databaseUrl });
    await locker.connect();
    try {
      await locker.query('begin; lock table slots in access exclusive mode');
      await work();
    } finally {
      await locker.end();
    }
  }

  const waitingStatements = async () => {
    const rows = await api.sql<{ n: number }>(
      `select count(*)::integer as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%"deliveryTime"%'`,
    );
    return rows[0]?.n;
  };

  it('ends at its deadline, and the statement behind it ends too', async () => {
    await withLockedSlots(async () => {
      const error = await failureOf(api.staff.getSlots({}, { timeoutMs: 200 }));
      expect(Code[error.code]).toBe('DeadlineExceeded');
      await expect.poll(waitingStatements).toBe(0);
    });
  });

  it('ends when its caller goes away, and the statement behind it ends too', async () => {
    await withLockedSlots(async () => {
      const caller = new AbortController();
      const call = failureOf(api.staff.getSlots({}, { signal: caller.signal }));
      await expect.poll(waitingStatements).toBe(1);
      caller.abort();
      expect(Code[(await call).code]).toBe('Canceled');
      await expect.poll(waitingStatements).toBe(0);
      await expect.poll(() => api.log.findLast(({ msg }) => msg === 'call')?.code).toBe('CANCELED');
    });
  });

  it('that waits for a connection ends at its deadline', async () => {
    await withLockedSlots(async () => {
      const callers = Array.from({ length: 14 }, () => failureOf(api.staff.getSlots({}, { timeoutMs: 300 })));
      for (const error of await Promise.all(callers)) expect(Code[error.code]).toBe('DeadlineExceeded');
    });
    await api.staff.getSlots({});
  });
});
