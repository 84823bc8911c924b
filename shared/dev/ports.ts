import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../config/variables.ts';
import type { NamedPort, StartSettings } from './settings.ts';

const allAddresses = '0.0.0.0';
// A service whose run was killed needs a moment to leave its port.
const patienceMs = 3_000;

/** Throws a `ConfigError` with a line for each port that another process or another variable uses. */
export async function assertPortsFree({ slot, coupon, databaseUrl, embeddedPort }: StartSettings): Promise<void> {
  const ports = [slot, coupon].flatMap(({ grpc, web, metrics }) => [grpc, web, ...(metrics ? [metrics] : [])]);
  if (databaseUrl === undefined && embeddedPort !== undefined) {
    ports.push({ variable: 'EMBEDDED_PG_PORT', port: embeddedPort });
  }
  const deadline = Date.now() + patienceMs;
  const lines: string[] = [];
  for (const [index, { variable, port }] of ports.entries()) {
    const twin = ports.slice(0, index).find((other) => other.port === port);
    if (twin !== undefined) lines.push(`${twin.variable} and ${variable} are both ${port}: give each its own`);
    else lines.push(...(await errorsOf({ variable, port }, deadline)));
  }
  if (lines.length > 0) throw new ConfigError(lines.join('\n'));
}

// Systems take the ports of outgoing connections from above this range: such a port could be taken before it is used.
const candidates = { from: 10_240, to: 32_768 };
const maxAttempts = 100;

/** Finds a port of the loopback address that nobody listens on. */
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

async function errorsOf({ variable, port }: NamedPort, deadline: number): Promise<string[]> {
  for (;;) {
    try {
      await listenOnce(port, allAddresses);
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

async function listenOnce(port: number, host: string): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
