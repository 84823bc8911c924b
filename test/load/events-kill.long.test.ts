import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { DocumentedReceiver } from '../support/documented-receiver.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { noFailover } from '../support/postgres-cluster.ts';
import { Replica } from '../support/replica.ts';
import { createSlot } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { startCluster } from './cluster.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Reads the stream of one replica after the other, from the last position on, and keeps what it was given. */
class Follower {
  readonly ids: string[] = [];
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;

  constructor(replicas: readonly Replica[], token: string) {
    this.#running = this.#follow(replicas, token);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #follow(replicas: readonly Replica[], token: string): Promise<void> {
    const { signal } = this.#stopped;
    let position = 'oldest';
    for (let n = 0; !signal.aborted; n += 1) {
      const transport = createGrpcJsTransport(`127.0.0.1:${replicas[n % replicas.length]?.ports.grpcPort}`);
      const audit = createClient(AuditService, withToken(transport, token));
      try {
        for await (const answer of audit.watchEntries({ position }, { signal, timeoutMs: 5_000 })) {
          this.ids.push(...answer.entries.map(({ id }) => `slot-service-${id}`));
          position = answer.position;
        }
      } catch {
        await pause(100);
      }
      transport.close();
    }
  }
}

describeUnless(noFailover, 'Streams and webhooks under kills', undefined, () => {
  it('No entry is left out, and all come in one order, when replicas, the receiver and PostgreSQL are killed', {
    timeout: 900_000,
  }, async () => {
    const { cluster, sql } = await startCluster();
    const receiver = new DocumentedReceiver('ts', secret, await findFreePort());
    await receiver.start();
    const env = { EVENTS_URL: receiver.url, EVENTS_SECRET: secret };
    const start = () => Replica.start({ databaseUrl: cluster.url, env });
    const replicas = [await start(), await start()];
    await expect.poll(() => sql('select from webhook_deliveries where is_active')).toHaveLength(1);
    const follower = new Follower(replicas, await signToken({ staffId: 1 }));
    onTestFinished(async () => {
      await Promise.all([receiver.kill(), follower.stop()]);
      await Promise.all(replicas.map((replica) => replica.kill()));
    });

    let isOver = false;
    const write = async (writer: number) => {
      for (let n = writer; !isOver; n += 1) {
        const replica = replicas[n % 2];
        if (replica !== undefined) await createSlot(replica).catch(() => pause(50));
      }
    };
    const writers = Array.from({ length: 8 }, (_writer, n) => write(n));
    for (let kill = 0; kill < 20; kill += 1) {
      await pause(1_000 + Math.random() * 4_000);
      const at = kill % 2;
      const replica = replicas[at];
      if (kill % 10 === 9) {
        await cluster.failOver('kill');
        await cluster.rejoin();
        await cluster.waitForStandby();
      } else if (kill % 3 === 0) {
        await receiver.kill();
        await receiver.start();
      } else if (replica !== undefined) {
        await replica.kill();
        replicas[at] = await replica.startAgain();
      }
    }
    isOver = true;
    await Promise.all(writers);

    const written = (
      await cluster.primary.sql<{ id: string }>('select id::text from audit_entries order by audit_entries.id')
    ).map(({ id }) => `slot-service-${id}`);
    expect(written.length).toBeGreaterThan(500);
    await cluster.primary.sql('update webhook_deliveries set due_at = now()');
    const received = () => receiver.lines.map((line) => line.split(' ')[0]);
    await expect.poll(() => received().at(-1), { timeout: 120_000 }).toBe(written.at(-1));
    await expect.poll(() => follower.ids.at(-1), { timeout: 60_000 }).toBe(written.at(-1));
    // Some may come again, but none comes first after a later one.
    expect([...new Set(received())]).toEqual(written);
    expect([...new Set(follower.ids)]).toEqual(written);
  });
});
