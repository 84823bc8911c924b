import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

// Anyone who can reach the port may scrape at any rate, which must not slow down calls.
const scrapeEveryMs = 100;
const maxConnections = 100;

export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves `/metrics` on its own port (0 for any free one). The other ports are open to browsers, which must not see the
 * metrics. Rejects if the port can't be bound.
 */
export async function serveMetrics(
  registry: Registry,
  address: { readonly host: string; readonly port: number },
  logger: Logger,
): Promise<MetricsServer> {
  const readText = paced(() => registry.metrics());
  const server = createServer(async ({ url = '', method }, response) => {
    if (url.split('?', 1)[0] !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await readText();
      response.writeHead(200, { 'content-type': registry.contentType, 'cache-control': 'no-store' }).end(text);
    } catch (error) {
      logger.warn({ err: error }, 'the metrics could not be told');
      response.writeHead(500).end();
    }
  });
  server.maxConnections = maxConnections;
  await once(server.listen(address), 'listening');
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A scrape in progress is not worth waiting for.
        server.closeAllConnections();
      }),
  };
}

/** Reads at most once every 100 ms. Concurrent callers share the next reading. */
function paced(read: () => Promise<string>): () => Promise<string> {
  let next: Promise<string> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const readNext = async () => {
    await pause(Math.max(0, readAt + scrapeEveryMs - performance.now()));
    next = undefined;
    readAt = performance.now();
    return read();
  };
  return () => {
    next ??= readNext();
    return next;
  };
}
