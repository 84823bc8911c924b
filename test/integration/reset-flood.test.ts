import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { run } from '../support/processes.ts';
import { Replica } from '../support/replica.ts';
import { signToken } from '../support/tokens.ts';
import { flood } from './http2-frames.ts';
import { slotsOver, TlsStage } from './tls-stage.ts';

const connections = 10;
const streamsEach = 2_000;
const maxGrowthMiB = 150;

const headers = async (contentType: string) => ({
  ':method': 'POST',
  ':scheme': 'https',
  ':authority': 'localhost',
  ':path': '/slot.v1.SlotService/GetSlots',
  'content-type': contentType,
  te: 'trailers',
  authorization: `Bearer ${await signToken({ staffId: 1 })}`,
});

async function memoryMiB({ pid }: Replica): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}

describe('A flood of streams that are opened and reset', () => {
  it('on the web port over HTTP/2 is cut off, and the others get their answers', async ({ onTestFinished }) => {
    const stage = await TlsStage.open({ mutual: false });
    onTestFinished(() => stage.close());
    const { replica, trusting } = stage;
    const slots = slotsOver(stage.connect('2', trusting));
    await slots.getSlots({});
    const before = await memoryMiB(replica);
    for (let n = 0; n < connections; n += 1) {
      const socket = await stage.dial('webPort', { ALPNProtocols: ['h2'] });
      const closed = once(socket, 'close');
      await Promise.all([
        flood(socket, streamsEach, await headers('application/json')),
        slots.getSlots({}, { timeoutMs: 10_000 }),
      ]);
      // By the server: a connection that it kept would be one more each time.
      await closed;
    }
    await slots.getSlots({}, { timeoutMs: 5_000 });
    expect((await memoryMiB(replica)) - before).toBeLessThan(maxGrowthMiB);
    expect(await replica.stop()).toBe(0);
  });

  it('on the gRPC port in cleartext is cut off, and the others get their answers', async ({ onTestFinished }) => {
    const database = await createDatabase();
    await database.sql("insert into staff_users (id, name) values (1, 'Asha Menon')");
    const replica = await Replica.start({ databaseUrl: database.url });
    onTestFinished(async () => {
      await replica.kill();
      await database.close();
    });
    await replica.slots.getSlots({});
    const before = await memoryMiB(replica);
    for (let n = 0; n < connections; n += 1) {
      const socket = connect(replica.ports.grpcPort, 'localhost');
      await Promise.all([
        flood(socket, streamsEach, await headers('application/grpc')),
        replica.slots.getSlots({}, { timeoutMs: 10_000 }),
      ]);
      socket.destroy();
    }
    await replica.slots.getSlots({}, { timeoutMs: 5_000 });
    expect((await memoryMiB(replica)) - before).toBeLessThan(maxGrowthMiB);
    expect(await replica.stop()).toBe(0);
  });
});
