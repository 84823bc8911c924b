import { connect, createServer, type Socket } from 'node:net';

/** A TCP way to a server that can be cut and mended, as a network does. */
export interface Proxy {
  readonly port: number;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Refuses new connections; those that are open go on. */
  refuse(): void;
  /** Takes connections again, on the same port. */
  mend(): Promise<void>;
  /** Passes nothing on, with every connection open and new ones taken, as a server does that hangs. */
  freeze(): void;
}

export async function startProxy(targetPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    if (!isFrozen) near.pipe(far).pipe(near);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend() {
      isFrozen = false;
      return listen(port);
    },
    refuse() {
      server.close();
    },
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
  };
}
