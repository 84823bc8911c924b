import { connect, createServer, type Socket } from 'node:net';

/** A way to PostgreSQL on which only the connection for notifications can be lost. */
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

/** Connections tell their application's name in their first message. */
const listenerName = ' listener\0';

export async function startListenerProxy(targetPort: number): Promise<ListenerProxy> {
  const sockets = new Set<Socket>();
  const listeners = new Set<Socket>();
  const answers = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        answers.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.once('data', (first: Buffer) => {
      if (first.includes(listenerName)) {
        if (isCut) near.destroy();
        else listeners.add(near);
      } else answers.add(far);
      far.write(first);
      near.pipe(far).pipe(near);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cutListener() {
      isCut = true;
      for (const socket of listeners) socket.destroy();
      listeners.clear();
    },
    mendListener() {
      isCut = false;
    },
    hold() {
      for (const socket of answers) socket.pause();
    },
    release() {
      for (const socket of answers) socket.resume();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
