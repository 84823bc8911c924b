import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onReset, openHalf } from '../support/http2-frames.ts';
import { slotsOver, TlsStage } from '../support/tls-stage.ts';
import { grpcFrame, grpcHeaders, untilClosed } from './overload-stage.ts';

describe('HTTP/2 on the web port', () => {
  let stage: TlsStage;
  beforeAll(async () => {
    stage = await TlsStage.open({ mutual: false });
  });
  afterAll(() => stage.close());

  const headers = () => ({
    ...{ ':scheme': 'https', ':authority': 'localhost' },
    ...grpcHeaders('GetSlots', 'nobody'),
    ...{ 'content-type': 'application/json', authorization: `Bearer ${stage.token}` },
  });

  it('HTTP/2 on the web port resets a request whose body comes slowly, and not a query by GET that is read slowly', {
    timeout: 60_000,
  }, async () => {
    const reader = await stage.session({ initialWindowSize: 0 });
    const query = reader.request({
      ':path': '/slot.v1.SlotService/GetSlots?connect=v1&encoding=json&message=%7B%7D',
      authorization: `Bearer ${stage.token}`,
    });
    await once(query, 'response');
    const session = await stage.session();
    const stream = session.request(headers());
    stream.on('error', () => undefined);
    const trickling = setInterval(() => stream.write(' '), 1_000);
    await untilClosed(stream);
    clearInterval(trickling);
    session.destroy();
    reader.settings({ initialWindowSize: 65_535 });
    expect(JSON.parse(await text(query))).toMatchObject({ count: 0 });
    reader.destroy();
    await slotsOver(stage.connect('2', stage.trusting)).getSlots({});
  });

  it('HTTP/2 on the web port discards the rest of a request that it refuses', async () => {
    const session = await stage.session();
    const stream = session.request({ ...headers(), 'content-type': 'application/grpc-web+proto' });
    stream.on('error', () => undefined);
    stream.resume().end(grpcFrame(Buffer.alloc(5 * 1024 * 1024)));
    await once(stream, 'close');
    expect(stream.rstCode).toBe(0);
    session.destroy();
  });

  it('HTTP/2 on the web port resets half-sent requests beyond the share of their caller', async () => {
    let resets = 0;
    const sockets = await Promise.all(
      Array.from({ length: 45 }, () => stage.dial('webPort', { ALPNProtocols: ['h2'] })),
    );
    for (const socket of sockets) {
      onReset(socket, () => {
        resets += 1;
      });
      openHalf(socket, 100, headers());
    }
    await expect.poll(() => resets).toBe(500);
    for (const socket of sockets) socket.destroy();
    const slots = slotsOver(stage.connect('2', stage.trusting));
    await expect.poll(() => slots.getSlots({}).then(() => 'served', String)).toBe('served');
  });
});
