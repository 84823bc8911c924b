import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { createDatabase } from '../support/database.ts';
import { DocumentedReceiver, receivers } from '../support/documented-receiver.ts';
import { eventually } from '../support/eventually.ts';
import { grpc } from '../support/protocols.ts';
import { fixture, startTestService } from '../support/service.ts';
import { createSlot } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { blocksUnder } from './recovery-stage.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A service, and clients of it. */
async function start(events?: { url: string; secrets: string[] }) {
  const database = await createDatabase();
  await database.sql(fixture);
  const service = await startTestService('slot', () => ({ events }), database);
  const connection = grpc.open(service);
  onTestFinished(async () => {
    connection.close();
    await service.stop();
    await database.close();
  });
  const token = await signToken({ staffId: 1 });
  const transport = withToken(connection.transport, token);
  return {
    service,
    database,
    token,
    slots: createClient(SlotService, transport),
    audit: createClient(AuditService, transport),
  };
}

describe('docs/events.md', () => {
  it.each(receivers)(
    'The receiver in %s takes what a service posts, once each, and refuses what nobody signed',
    async (language) => {
      const receiver = new DocumentedReceiver(language, secret, await findFreePort());
      await receiver.start();
      onTestFinished(() => receiver.kill());
      const { database, slots, audit } = await start({ url: receiver.url, secrets: [secret] });
      await expect.poll(() => database.sql('select from webhook_deliveries where is_active')).toHaveLength(1);
      for (let n = 0; n < 3; n += 1) await createSlot({ slots });
      await expect.poll(() => receiver.lines).toHaveLength(3);
      const { entries } = await audit.listEntries({});
      expect(receiver.lines.map((line) => line.split(' ').slice(0, 3))).toEqual(
        entries
          .reverse()
          .map(({ id, resourceId }) => [`slot-service-${id}`, 'delivery-admin.slot.CreateSlot', `${resourceId}`]),
      );
      const headers = {
        'webhook-id': 'x',
        'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
        'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
      };
      const forged = await fetch(receiver.url, { method: 'POST', headers, body: '[{"id":"forged"}]' });
      expect(forged.status).toBe(401);
      expect(receiver.lines).toHaveLength(3);
    },
  );

  it('The program that reads the stream goes on after its stored position, also when the service was away', async () => {
    const { service, slots, audit, token } = await start();
    const folder = await mkdtemp(path.join(tmpdir(), 'position-'));
    const position = path.join(folder, 'position');
    await writeFile(position, 'oldest');
    onTestFinished(() => rm(folder, { recursive: true }));
    const [program = ''] = blocksUnder('docs/events.md', 'The stream', 'ts');
    const own = program.replaceAll(`'position'`, JSON.stringify(position)).replace(':50051', `:${service.grpcPort}`);
    const reader = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', own], {
      env: { ...process.env, TOKEN: token },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void reader.kill('SIGKILL'));
    let printed = '';
    reader.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const changes = () => [...printed.matchAll(/CreateSlot (\d+)/g)].map(([, id]) => Number(id));
    await createSlot({ slots });
    await createSlot({ slots });
    await expect.poll(changes).toHaveLength(2);
    expect(await readFile(position, 'utf8')).not.toContain('oldest');
    await service.restart();
    await eventually(() => createSlot({ slots }));
    await expect.poll(changes).toHaveLength(3);
    const { entries } = await audit.listEntries({});
    expect(changes()).toEqual(entries.reverse().map(({ resourceId }) => resourceId));
  });
});
