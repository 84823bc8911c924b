import { once } from 'node:events';
import { constants } from 'node:http2';
import { describe, it } from 'vitest';
import { targetOf } from './overload-stage.ts';
import { grpcFrame, grpcHeaders, openSession, openSocket, postHead, untilClosed } from './overload-wire.ts';

const trickleMs = 1_000;

// Each test waits 30 s for a timeout of the service, so they run concurrently.
describe.concurrent('Slow requests', { timeout: 60_000 }, () => {
  const target = targetOf();

  /** Sends a head to the web port, and then a byte a second. Returns what comes back until the connection closes. */
  async function trickle(head: string): Promise<string> {
    const socket = await openSocket(target().webPort);
    let answer = '';
    socket.on('data', (data: Buffer) => {
      answer += data.toString();
    });
    socket.write(head);
    const trickling = setInterval(() => socket.write('x'), trickleMs);
    await untilClosed(socket);
    clearInterval(trickling);
    return answer;
  }

  it('A request on the web port whose headers come slowly is refused', async ({ expect }) => {
    expect(await trickle('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ')).toMatch(/^HTTP\/1.1 408 /);
  });

  it('A request on the web port whose body comes slowly is refused', async ({ expect }) => {
    const body = { 'content-type': 'application/json', 'content-length': 1_000 };
    const head = postHead('GetSlots', { authorization: `Bearer ${target().token}`, ...body });
    expect(await trickle(head)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('A gRPC request whose body comes slowly is reset', async ({ expect }) => {
    const session = await openSession(target().grpcPort);
    const stream = session.request(grpcHeaders('GetSlots', target().token));
    stream.on('error', () => undefined);
    stream.write(grpcFrame(Buffer.alloc(0), { length: 1_000 }));
    const trickling = setInterval(() => stream.write('x'), trickleMs);
    await untilClosed(stream);
    clearInterval(trickling);
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  });

  it('A gRPC stream that was answered and does not end is reset', async ({ expect }) => {
    const session = await openSession(target().grpcPort);
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    const refused = session.request({ ...grpcHeaders('', 'nobody'), ':path': path });
    refused.on('error', () => undefined);
    const answered = once(refused, 'response');
    refused.resume().write(grpcFrame(Buffer.from('no request')));
    const [headers] = await answered;
    expect(headers['grpc-status']).toBe('3');
    await untilClosed(refused);
    expect(refused.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  });
});
