import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';
import type { ConsoleConfig } from './config.ts';
import type { PageConfig } from './page-config.ts';

/** The folder of the built page: beside this file, in the source as in the compiled program. */
export const builtFolder = fileURLToPath(new URL('built', import.meta.url));

/** A console that serves its page. */
export interface RunningConsole {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves the built page (design 11). Its assets have their hash in their names, so browsers keep them for a year. The page itself
 * is made anew for each request, because its Content-Security-Policy has a nonce.
 *
 * Rejects when the folder has no built page, and when the port can't be bound.
 */
export async function startConsole(config: ConsoleConfig, folder = builtFolder): Promise<RunningConsole> {
  const template = insertConfig(await readFile(`${folder}/index.html`, 'utf8'), config.page);
  const sendAsset = sirv(folder, { brotli: true, gzip: true, immutable: true, maxAge: 31_536_000 });
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '/';
    response.setHeader('x-content-type-options', 'nosniff');
    if (request.method !== 'GET' && request.method !== 'HEAD') sendStatus(response, 405);
    else if (path === '/healthz' || path === '/readyz') sendStatus(response, 200);
    else if (path.startsWith('/assets/')) sendAsset(request, response, () => sendStatus(response, 404));
    else sendPage(request, response, template, config.page);
  });
  server.listen(config.port, config.bindAddress);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : config.port,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

function sendStatus(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 200 ? 'ok\n' : `${status}\n`);
}

// What Vite writes wherever a nonce belongs.
const noncePlaceholder = 'CSP_NONCE';
const configPlaceholder = 'CONSOLE_CONFIG';

function insertConfig(html: string, page: PageConfig): string {
  const json = JSON.stringify(page).replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
  return html.replace(configPlaceholder, () => json);
}

/** Every path is the page's: the page itself tells which of them there are. */
function sendPage(request: IncomingMessage, response: ServerResponse, template: string, page: PageConfig): void {
  const nonce = randomBytes(16).toString('base64');
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy(page, nonce),
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    })
    .end(request.method === 'HEAD' ? undefined : template.replaceAll(noncePlaceholder, nonce));
}

function policy({ slotUrl, couponUrl, oidc }: PageConfig, nonce: string): string {
  const origins = [slotUrl, couponUrl, ...(oidc === undefined ? [] : [oidc.issuer])].map((url) => new URL(url).origin);
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The component library writes style elements of its own, with the nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    // Product images come from wherever the catalogue says.
    "img-src 'self' data: https: http:",
    `connect-src 'self' ${[...new Set(origins)].join(' ')}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
