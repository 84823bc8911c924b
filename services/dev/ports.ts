import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the range from which systems choose ports of outgoing connections: such a port could be
// taken before it is used.
const candidates = { from: 10_240, to: 32_768 };
const maxAttempts = 100;

/** Finds a free port of the loopback address. */
export async function findFreePort(): Promise<number> {
  for (let left = maxAttempts; ; left -= 1) {
    const port = randomInt(candidates.from, candidates.to);
    try {
      await listenOnce(port, '127.0.0.1');
      return port;
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

/** Listens on a port and closes it again. Rejects with the system's error if that fails. */
export async function listenOnce(port: number, host: string): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
