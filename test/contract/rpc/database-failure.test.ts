import { type CallOptions, Code, createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import type { ServiceConfig } from '../../../shared/config/config.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, failureOf } from '../../support/contract.ts';
import { holding, lockSlots } from '../../support/locks.ts';
import { grpc } from '../../support/protocols.ts';
import { startDatabaseProxy, viaPort } from '../../support/proxy.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signToken, withToken } from '../../support/tokens.ts';

describe('When the database fails', () => {
  async function withService(
    overrides: (config: ServiceConfig) => Partial<ServiceConfig>,
    work: (getSlots: (options?: CallOptions) => Promise<unknown>, service: TestService) => Promise<void>,
  ): Promise<void> {
    const service = await startTestService('slot', overrides);
    const { transport, close } = grpc.open(service);
    const slots = createClient(SlotService, withToken(transport, await signToken({ staffId: 1 })));
    const getSlots = (options?: CallOptions) => slots.getSlots({}, options);
    try {
      await getSlots();
      await work(getSlots, service);
    } finally {
      close();
      await service.stop();
    }
  }

  it('A statement that fails unexpectedly makes the call fail as INTERNAL, without the text of the driver', async () => {
    await withService(
      () => ({}),
      async (getSlots, service) => {
        await service.database.sql('alter table slots rename to elsewhere');
        await expectError(getSlots(), 'INTERNAL');
        expect(JSON.stringify(service.log)).toContain('relation \\"slots\\" does not exist');
      },
    );
  });

  it('A call fails as UNAVAILABLE while the database is away, and succeeds afterwards', async () => {
    const proxy = await startDatabaseProxy();
    await withService(
      ({ database }) => ({ database: { ...database, url: viaPort(database.url, proxy.port) } }),
      async (getSlots) => {
        await proxy.cut();
        await expectError(getSlots(), 'DATABASE_UNAVAILABLE');
        await expectError(getSlots(), 'DATABASE_UNAVAILABLE');
        await proxy.mend();
        await getSlots();
      },
    );
    await proxy.cut();
  });

  it('A call waits for a connection as long as its deadline allows, and 10 s without one', async () => {
    await withService(
      ({ database }) => ({ database: { ...database, poolSize: 1, statementTimeoutMs: 60_000 } }),
      async (getSlots, service) => {
        await holding(service.database.url, lockSlots, async (lock) => {
          // This call or a refresh of the stores holds the only connection.
          const holder = getSlots().catch(() => undefined);
          await lock.untilAwaited();
          const patient = getSlots({ timeoutMs: 60_000 });
          const impatient = await failureOf(getSlots({ timeoutMs: 500 }));
          expect(impatient.code).toBe(Code.DeadlineExceeded);
          await expectError(getSlots(), 'DATABASE_POOL_EXHAUSTED');
          await lock.release();
          await Promise.all([holder, patient]);
        });
      },
    );
  });

  it('A call fails as DEADLINE_EXCEEDED when a statement takes too long', async () => {
    await withService(
      ({ database }) => ({ database: { ...database, statementTimeoutMs: 200 } }),
      async (getSlots, service) => {
        await holding(service.database.url, lockSlots, () => expectError(getSlots(), 'DATABASE_STATEMENT_TIMEOUT'));
      },
    );
  });
});
