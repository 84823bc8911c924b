import { Code, createClient } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { inSlices } from '../../../shared/rpc/answers/slices.ts';
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

  it('A call whose answer waits behind the long ones of its caller ends at its deadline', async () => {
    await api.sql(`insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after, shown_bytes)
      select 'slot.v1.SlotService/UpdateSlot', 'anna', 'r', 'slot', 1, '{}', 2 from generate_series(1, 1000)`);
    const audit = createClient(AuditService, api.transportAs('staff'));
    await audit.listEntries({ limit: 1000 });
    const lastCall = () => api.log.findLast(({ msg }) => msg === 'call');
    const { sub, requestId } = lastCall() ?? {};
    const isOver = new AbortController();
    onTestFinished(() => isOver.abort());
    const long = inSlices({ subject: String(sub) }, function* () {
      while (!isOver.signal.aborted) yield;
    });
    await expect(audit.listEntries({ limit: 1000 }, { timeoutMs: 500 })).rejects.toThrow();
    await expect.poll(() => lastCall()?.requestId).not.toBe(requestId);
    // The client may leave at the deadline before the service's own clock ends the call.
    expect(['DEADLINE_EXCEEDED', 'CANCELED']).toContain(lastCall()?.code);
    isOver.abort();
    await long;
    await audit.listEntries({ limit: 1000 });
  });

  it('A call that waits for a connection to the database ends at its deadline', async () => {
    await holding(api.databaseUrl, lockSlots, async () => {
      const callers = Array.from({ length: 14 }, () => failureOf(api.staff.getSlots({}, { timeoutMs: 300 })));
      for (const error of await Promise.all(callers)) expect(Code[error.code]).toBe('DeadlineExceeded');
    });
    await api.staff.getSlots({});
  });
});
