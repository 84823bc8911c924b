import { type CallOptions, Code, createClient } from '@connectrpc/connect';
import { describe, expect, inject, it } from 'vitest';
import type { ServiceConfig } from '../../../shared/config/config.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, failureOf } from '../../support/contract.ts';
import { holding, lockSlots } from '../../support/locks.ts';
import { queryOnce } from '../../support/postgres-server.ts';
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

  // Bounds that somebody has set for the role, where a pooler keeps those of the service away.
  it.each([
    ['lock_timeout', 'CONCURRENT_CHANGE', 'Aborted', 'Another change got in the way - please try again'],
    ['transaction_timeout', 'DATABASE_STATEMENT_TIMEOUT', 'DeadlineExceeded', 'The database took too long'],
  ] as const)(
    'A call that %s ends fails as %s, and its connection serves the next one',
    async (setting, reason, code, message) => {
      const known = await queryOnce(
        `${inject('postgresUrl')}/postgres`,
        `select from pg_settings where name = '${setting}'`,
      );
      // Before PostgreSQL 17 there is none.
      if (known.length === 0) return;
      await withService(
        ({ database }) => {
          const url = new URL(database.url);
          url.searchParams.set('options', `-c ${setting}=1000`);
          return { database: { ...database, poolSize: 1, url: url.href } };
        },
        async (getSlots, service) => {
          await holding(service.database.url, lockSlots, () => expectError(getSlots(), { code, message, reason }));
          for (let n = 1; n <= 3; n += 1) await getSlots();
        },
      );
    },
  );
});
