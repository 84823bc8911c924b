import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import type { ServiceConfig } from '../../../shared/config/config.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError } from '../../support/contract.ts';
import { protocols } from '../../support/protocols.ts';
import { startProxy } from '../../support/proxy.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';

const waitersOfOneConnection = 100;

describe.each(protocols)('When the database fails, a call over $name', (protocol) => {
  async function withService(
    overrides: (config: ServiceConfig) => Partial<ServiceConfig>,
    work: (getSlots: () => Promise<unknown>, service: TestService) => Promise<void>,
  ): Promise<void> {
    const service = await startTestService('slot', overrides);
    const { transport, close } = protocol.open(service);
    const headers = { authorization: `Bearer ${await signToken({ staffId: 1 })}` };
    const getSlots = () => createClient(SlotService, transport).getSlots({}, { headers });
    try {
      await getSlots();
      await work(getSlots, service);
    } finally {
      close();
      await service.stop();
    }
  }

  async function lockSlots(service: TestService): Promise<pg.Client> {
    const locker = new pg.Client({ connectionString: service.database.url });
    await locker.connect();
    await locker.query('begin; lock table slots in access exclusive mode');
    return locker;
  }

  it('fails as INTERNAL without the text of the driver', async () => {
    await withService(
      () => ({}),
      async (getSlots, service) => {
        await service.database.sql('alter table slots rename to elsewhere');
        await expectError(getSlots(), { code: 'Internal', message: 'Internal error', reason: 'INTERNAL' });
        expect(JSON.stringify(service.log)).toContain('relation \\"slots\\" does not exist');
      },
    );
  });

  it('fails as UNAVAILABLE while it is away, and works again afterwards', async () => {
    const viaProxy = await startProxy(Number(new URL(inject('postgresUrl')).port));
    await withService(
      (config) => {
        const url = new URL(config.database.url);
        url.port = String(viaProxy.port);
        return { database: { ...config.database, url: url.toString() } };
      },
      async (getSlots) => {
        await viaProxy.cut();
        const expected = {
          code: 'Unavailable',
          message: 'The database is unavailable',
          reason: 'DATABASE_UNAVAILABLE',
        } as const;
        await expectError(getSlots(), expected);
        await expectError(getSlots(), expected);
        await viaProxy.mend();
        await getSlots();
      },
    );
    await viaProxy.cut();
  });

  it('fails as RESOURCE_EXHAUSTED when no connection comes free in time', async () => {
    await withService(
      ({ database }) => ({ database: { ...database, poolSize: 1, connectionTimeoutMs: 2_000 } }),
      async (getSlots, service) => {
        const locker = await lockSlots(service);
        // Either it or a store refresh holds the only connection.
        const holder = getSlots().catch(() => undefined);
        await expectError(getSlots(), {
          code: 'ResourceExhausted',
          message: 'Too many calls wait for the database',
          reason: 'DATABASE_POOL_EXHAUSTED',
        });
        await locker.end();
        await holder;
      },
    );
  });

  it('fails as RESOURCE_EXHAUSTED at once when as many wait for a connection as may, and those complete', async () => {
    await withService(
      ({ database }) => ({ database: { ...database, poolSize: 1, connectionTimeoutMs: 60_000 } }),
      async (getSlots, service) => {
        const locker = await lockSlots(service);
        // Over HTTP/1.1: a connection of gRPC has 100 calls at once.
        const transport = createConnectTransport({
          baseUrl: `http://127.0.0.1:${service.webPort}`,
          httpVersion: '1.1',
        });
        const headers = { authorization: `Bearer ${await signToken({ staffId: 1 })}` };
        let refused = 0;
        const others = Array.from({ length: waitersOfOneConnection + 10 }, async () => {
          await createClient(SlotService, transport)
            .getSlots({}, { headers })
            .catch(() => {
              refused += 1;
            });
        });
        // One runs besides, or a refresh of the stores does.
        await expect.poll(() => refused, { timeout: 10_000 }).toBeGreaterThanOrEqual(9);
        await expectError(getSlots(), {
          code: 'ResourceExhausted',
          message: 'Too many calls wait for the database',
          reason: 'DATABASE_POOL_EXHAUSTED',
        });
        await locker.end();
        await Promise.all(others);
        expect(refused).toBeLessThanOrEqual(10);
      },
    );
  });

  it('fails as DEADLINE_EXCEEDED when a statement takes too long', async () => {
    await withService(
      ({ database }) => ({ database: { ...database, statementTimeoutMs: 200 } }),
      async (getSlots, service) => {
        const locker = await lockSlots(service);
        await expectError(getSlots(), {
          code: 'DeadlineExceeded',
          message: 'The database took too long',
          reason: 'DATABASE_STATEMENT_TIMEOUT',
        });
        await locker.end();
      },
    );
  });
});
