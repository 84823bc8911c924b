import { setTimeout as delay } from 'node:timers/promises';

const timeoutMs = 1_000;
const intervalMs = 50;

/**
 * Resolves once a service is ready, by its web port, which it opens after the gRPC port. Rejects when the signal aborts.
 */
export async function untilReady(host: string, webPort: number, signal: AbortSignal): Promise<void> {
  const isReady = async () =>
    (await fetch(`http://${host}:${webPort}/readyz`, { signal: AbortSignal.timeout(timeoutMs) })).ok;
  while (!(await isReady().catch(() => false))) await delay(intervalMs, undefined, { signal });
}
