import { inject } from 'vitest';
import { type Relay, startRelay } from './relay.ts';

/** A TCP way to a server that can be cut, mended and frozen, as a network does. */
export interface TcpProxy extends Relay {
  /** Passes nothing on, while every connection stays open and new ones are taken, as a hung server does. */
  freeze(): void;
  /** Passes nothing on over the connections that are open, while new ones work, as a firewall does that forgets. */
  silence(): void;
}

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  let isFrozen = false;
  const relay = await startRelay(targetPort, (near, far) => {
    if (!isFrozen) near.pipe(far).pipe(near);
  });
  return {
    ...relay,
    freeze() {
      isFrozen = true;
      for (const socket of relay.sockets) socket.pause();
    },
    silence() {
      for (const socket of relay.sockets) socket.pause();
    },
    mend() {
      isFrozen = false;
      return relay.mend();
    },
  };
}

/** A proxy before this run's PostgreSQL. */
export function startDatabaseProxy(): Promise<TcpProxy> {
  return startProxy(Number(new URL(inject('postgresUrl')).port));
}

/** The URL of a database by way of a proxy. */
export function viaPort(databaseUrl: string, port: number): string {
  return Object.assign(new URL(databaseUrl), { port: String(port) }).href;
}
