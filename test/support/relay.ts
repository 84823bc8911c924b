import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

/** A TCP server that opens a connection to another server for each one that it takes. */
export interface Relay {
  readonly port: number;
  /** Both ends of every connection that is open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Takes no new connections; those that are open stay. */
  refuse(): void;
  /** Ends every connection and takes no new ones. */
  cut(): Promise<void>;
  /** Takes connections again, on the same port. */
  mend(): Promise<void>;
}

/** @param join passes on what one end of a connection sends to the other. */
export async function startRelay(
  targetPort: number,
  join: (near: Socket, far: Socket) => void = (near, far) => void near.pipe(far).pipe(near),
  targetHost = '127.0.0.1',
): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(targetPort, targetHost);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    join(near, far);
  });
  const port = await listen(server);
  return {
    port,
    sockets,
    refuse() {
      server.close();
    },
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async mend() {
      await listen(server, port);
    },
  };
}
