import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { Authority } from '../support/certificates.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { type ClientSide, expectNoConnection, slotsOver, storesOver, TlsStage } from '../support/tls-stage.ts';

const ways = {
  gRPC: (stage: TlsStage, side: ClientSide) => stage.grpc(side),
  Connect: (stage: TlsStage, side: ClientSide) => stage.connect(side),
  'gRPC-Web': (stage: TlsStage, side: ClientSide) => stage.grpcWeb(side),
};
const eachWay = Object.entries(ways);
const patient = { timeoutMs: 30_000 };

describe('A service over TLS', () => {
  let stage: TlsStage;
  beforeAll(async () => {
    stage = await TlsStage.open({ mutual: false });
  });
  afterAll(() => stage.close());

  it.each(eachWay)('A service over TLS answers %s', async (_name, way) => {
    expect(await slotsOver(way(stage, stage.trusting)).getSlots({}, patient)).toMatchObject({ count: 0 });
  });

  it.each(eachWay)('A service over TLS streams over %s', async (_name, way) => {
    for await (const { version } of storesOver(way(stage, stage.trusting)).watchStore({}, patient)) {
      expect(version).toBeGreaterThan(0);
      break;
    }
  });

  it('A service over TLS answers no call in cleartext', async () => {
    const { grpcPort, webPort } = stage.replica.ports;
    const transport = createGrpcJsTransport(`localhost:${grpcPort}`, credentials.createInsecure());
    await expectNoConnection(slotsOver(transport).getSlots({}, { timeoutMs: 1_000 }));
    transport.close();
    await expect(fetch(`http://localhost:${webPort}/healthz`)).rejects.toThrow();
  });

  it.each(['grpcPort', 'webPort'] as const)(
    'A service takes TLS 1.2 with forward secrecy only, on its %s',
    async (port) => {
      const version = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
      const socket = await stage.dial(port, version);
      expect(socket.getCipher().name).toMatch(/^ECDHE-\w+-(AES\d+-GCM|CHACHA20)-/);
      socket.destroy();
      for (const ciphers of ['AES128-SHA', 'AES256-GCM-SHA384', 'ECDHE-RSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA']) {
        await expect(stage.dial(port, { ...version, ciphers }), ciphers).rejects.toThrow();
      }
    },
  );

  it.each(['grpcPort', 'webPort'] as const)('A service refuses TLS before 1.2 on its %s', async (port) => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(stage.dial(port, old)).rejects.toThrow(/protocol version/i);
    (await stage.dial(port, { maxVersion: 'TLSv1.2' })).destroy();
  });

  /** Makes a call to hosts that all lead to this machine. */
  async function call(hosts: readonly string[], ca = stage.authority.cert): Promise<unknown> {
    const { token, replica } = stage;
    const addresses = hosts.map((host) => `${host}:${replica.ports.grpcPort}`);
    const slots = createGrpcClient(SlotService, {
      addresses,
      token,
      credentials: credentials.createSsl(Buffer.from(ca)),
    });
    return slots.getSlots({}, patient).finally(() => slots.close());
  }

  it('A grpc-js client trusts no service of another authority', async () => {
    await expectNoConnection(call(['localhost'], (await Authority.create('another authority')).cert));
  });

  it('A grpc-js client checks the certificate at each of its addresses against the host of the first', async () => {
    // The certificate names localhost and 127.0.0.1.
    expect(await call(['localhost', '127.0.0.2'])).toMatchObject({ count: expect.any(Number) });
    await expectNoConnection(call(['127.0.0.2', 'localhost']));
  });
});

describe('A service that asks for client certificates', () => {
  let stage: TlsStage;
  let known: ClientSide;
  let unknown: ClientSide;
  beforeAll(async () => {
    stage = await TlsStage.open({ mutual: true });
    const other = await Authority.create('another authority');
    known = { ...stage.trusting, own: await stage.authority.sign() };
    unknown = { ...stage.trusting, own: await other.sign() };
  });
  afterAll(() => stage.close());

  it.each(eachWay)(
    'A service that asks for client certificates answers %s with one of its authority, and with no other',
    async (_name, way) => {
      expect(await slotsOver(way(stage, known)).getSlots({}, patient)).toMatchObject({ count: 0 });
      await expectNoConnection(slotsOver(way(stage, stage.trusting)).getSlots({}, patient));
      await expectNoConnection(slotsOver(way(stage, unknown)).getSlots({}, patient));
    },
  );
});
