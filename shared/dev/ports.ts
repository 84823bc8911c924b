import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../config/variables.ts';
import type { StartSettings } from './settings.ts';

const allAddresses = '0.0.0.0';

interface NamedPort {
  readonly variable: string;
  readonly port: number;
}

/**
 * Throws a `ConfigError` with a line for each port that is taken, by another process or by another
 * variable. A port that is still being left may take `patienceMs` to become free.
 */
export async function assertPortsFree(settings: StartSettings, patienceMs: number): Promise<void> {
  const { slot, coupon, embeddedPort } = settings;
  const ports: NamedPort[] = [slot.grpc, slot.web, coupon.grpc, coupon.web];
  ports.push(...[slot.metrics, coupon.metrics].filter((port) => port !== undefined));
  if (settings.databaseUrl === undefined && embeddedPort !== undefined) {
    ports.push({ variable: 'EMBEDDED_PG_PORT', port: embeddedPort });
  }
  const deadline = Date.now() + patienceMs;
  const lines: string[] = [];
  for (const [index, { variable, port }] of ports.entries()) {
    const twin = ports.slice(0, index).find((other) => other.port === port);
    if (twin !== undefined) lines.push(`${twin.variable} and ${variable} are both ${port}: give each its own`);
    else lines.push(...(await refusalOf({ variable, port }, deadline)));
  }
  if (lines.length > 0) throw new ConfigError(lines.join('\n'));
}

// Systems take the ports of outgoing connections from above: such a one could be gone before it is used.
const candidates = { from: 10_240, to: 32_768 };
const maxAttempts = 100;

/** A port of the loopback address that nobody listens on now. */
export async function findFreePort(): Promise<number> {
  for (let left = maxAttempts; ; left -= 1) {
    try {
      return await tryPort(randomInt(candidates.from, candidates.to), '127.0.0.1');
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

async function refusalOf({ variable, port }: NamedPort, deadline: number): Promise<string[]> {
  for (;;) {
    try {
      await tryPort(port, allAddresses);
      return [];
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EACCES') return [`port ${port} needs rights that this process lacks: set ${variable}`];
      if (code !== 'EADDRINUSE') throw error;
      if (Date.now() > deadline) return [`port ${port} is in use by another process: free it, or set ${variable}`];
      await delay(100);
    }
  }
}

function tryPort(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}
