import { once } from 'node:events';
import { type ClientHttp2Session, connect, createServer } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limitSession, type SessionLimits } from '../../shared/rpc/web/http2-session.ts';

const generous: SessionLimits = { pingMs: 200, idleMs: 60_000 };

describe('A session of HTTP/2', () => {
  let server: ReturnType<typeof createServer>;
  let client: ClientHttp2Session;
  beforeEach(() => {
    server = createServer();
    server.on('stream', (stream) => stream.on('error', () => undefined));
  });
  afterEach(() => {
    vi.useRealTimers();
    client.destroy();
    server.close();
  });

  async function open(limits: SessionLimits): Promise<void> {
    server.on('session', (session) => limitSession(session, limits));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const opened = connect(`http://127.0.0.1:${port()}`);
    // Not `client`, which is the next test's by the time that a late error comes.
    opened.on('error', () => opened.destroy());
    client = opened;
    await once(client, 'remoteSettings');
  }

  const port = () => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  };

  const pings = async (count: number) => {
    for (let n = 0; n < count; n += 1) await once(client, 'ping');
  };

  it('A session is ended once it has been without a stream for a while', async () => {
    await open({ ...generous, idleMs: 50 });
    await once(client, 'close');
  });

  it('A session stays as long as a stream waits', async () => {
    await open({ ...generous, idleMs: 50 });
    const waiting = client.request({ ':path': '/' });
    await pings(5);
    expect(client.closed).toBe(false);
    waiting.close();
    await once(client, 'close');
  });

  it('A session is ended when its client no longer answers', async () => {
    await open(generous);
    const silent = connectTcp(port(), '127.0.0.1');
    silent.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    silent.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    silent.resume();
    await once(silent, 'close');
    await pings(1);
  });

  it('A session is not pinged between its destruction and its close event', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const opened = once(server, 'session');
    await open(generous);
    const [session] = await opened;
    session.destroy();
    expect(() => vi.advanceTimersByTime(generous.pingMs)).not.toThrow();
  });
});
