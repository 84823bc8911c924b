import type { ClientHttp2Session } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holding, lockSlots } from '../support/locks.ts';
import { grpcFrame, grpcHeaders, openSession, startTarget, type Target } from './overload-stage.ts';

const callsOfOneConnection = 100;
const callsOfAllConnections = 500;

describe('The calls that a gRPC connection may have open at once', () => {
  let target: Target;
  beforeAll(async () => {
    target = await startTarget();
  });
  afterAll(() => target.stop());

  /** Opens connections, and begins a call on each. */
  async function openBusy(connections: number): Promise<ClientHttp2Session[]> {
    const sessions = await Promise.all(
      Array.from({ length: connections }, () => openSession(target.replica.ports.grpcPort)),
    );
    for (const session of sessions) ask(session, 'slot.v1.SlotService/GetSlots');
    return sessions;
  }

  function ask(session: ClientHttp2Session, path: string): void {
    const stream = session.request({ ...grpcHeaders('', target.token), ':path': `/${path}` });
    stream.on('error', () => undefined);
    stream.resume().end(grpcFrame(Buffer.alloc(0)));
  }

  const quotaOf = (session: ClientHttp2Session) => session.remoteSettings.maxConcurrentStreams;
  const quotasOf = (sessions: readonly ClientHttp2Session[]) => [...new Set(sessions.map(quotaOf))];

  it('The concurrent calls are shared out among the connections that have calls, and given back', async () => {
    await holding(target.database.url, lockSlots, async () => {
      const sessions = await openBusy(10);
      const [first] = sessions;
      if (first === undefined) throw new Error('no connection');
      await expect.poll(() => quotasOf(sessions)).toEqual([callsOfAllConnections / 10]);
      for (const session of sessions.slice(1)) session.destroy();
      await expect.poll(() => quotaOf(first)).toBe(callsOfOneConnection);
      first.destroy();
    });
  });

  it('Streams do not use up the concurrent calls of a connection', async () => {
    const session = await openSession(target.replica.ports.grpcPort);
    const watches = 3;
    for (let watch = 0; watch < watches; watch += 1) ask(session, 'slot.v1.SlotStoreService/WatchStore');
    await expect.poll(() => quotaOf(session)).toBe(callsOfOneConnection + watches);
    session.destroy();
  });
});
