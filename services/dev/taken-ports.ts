import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../shared/config/variables.ts';
import { throwPortError } from '../../shared/runtime/port-error.ts';
import { listenOnce } from './ports.ts';
import type { NamedPort, StartSettings } from './settings.ts';

type AddressedPort = NamedPort & { readonly address: string };

// After a run is killed, its services need a moment to close their ports.
const patienceMs = 3_000;

/**
 * Throws a `ConfigError` with a line for each port that another process or another variable uses. Waits up to 3 s for
 * ports to become free.
 */
export async function assertPortsFree(settings: StartSettings): Promise<void> {
  const { bindAddress, slot, coupon, console, databaseUrl, embeddedPort } = settings;
  const named = [slot, coupon].flatMap(({ grpc, web, metrics }) => [grpc, web, ...(metrics ? [metrics] : [])]);
  const ports: AddressedPort[] = [...named, console].map((port) => ({ ...port, address: bindAddress }));
  if (databaseUrl === undefined && embeddedPort !== undefined) {
    ports.push({ variable: 'EMBEDDED_PG_PORT', port: embeddedPort, address: '127.0.0.1' });
  }
  const deadline = Date.now() + patienceMs;
  const lines: string[] = [];
  for (const [index, { variable, port, address }] of ports.entries()) {
    const twin = ports.slice(0, index).find((other) => other.port === port);
    if (twin !== undefined) lines.push(`${twin.variable} and ${variable} are both ${port}: give each its own`);
    else lines.push(...(await errorsOf({ variable, port, address }, deadline)));
  }
  if (lines.length > 0) throw new ConfigError(lines.join('\n'));
}

async function errorsOf({ variable, port, address }: AddressedPort, deadline: number): Promise<string[]> {
  for (;;) {
    try {
      await listenOnce(port, address);
      return [];
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EACCES') return [`port ${port} needs rights that this process lacks: set ${variable}`];
      if (code !== 'EADDRINUSE') throwPortError(address, port)(error);
      if (Date.now() > deadline) return [`port ${port} is in use by another process: free it, or set ${variable}`];
      await delay(100);
    }
  }
}
