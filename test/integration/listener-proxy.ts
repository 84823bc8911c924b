import type { Socket } from 'node:net';
import { startRelay } from '../support/relay.ts';

/** A way to PostgreSQL that can cut the connection for notifications alone, and hold back all answers. */
export interface ListenerProxy {
  readonly port: number;
  /** Ends the connection for notifications, and refuses new ones. */
  cutListener(): void;
  mendListener(): void;
  /** Holds back what the server answers on all other connections, until `release`. */
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

/** A connection names its application in its first message. */
const listenerName = ' listener\0';

export async function startListenerProxy(targetPort: number): Promise<ListenerProxy> {
  const listeners = new Set<Socket>();
  const answering = new Set<Socket>();
  let isCut = false;
  const relay = await startRelay(targetPort, (near, far) => {
    far.on('close', () => answering.delete(far));
    near.once('data', (first: Buffer) => {
      if (first.includes(listenerName)) {
        if (isCut) near.destroy();
        else listeners.add(near);
      } else answering.add(far);
      far.write(first);
      near.pipe(far).pipe(near);
    });
  });
  return {
    port: relay.port,
    cutListener() {
      isCut = true;
      for (const socket of listeners) socket.destroy();
      listeners.clear();
    },
    mendListener() {
      isCut = false;
    },
    hold() {
      for (const socket of answering) socket.pause();
    },
    release() {
      for (const socket of answering) socket.resume();
    },
    close: relay.cut,
  };
}
