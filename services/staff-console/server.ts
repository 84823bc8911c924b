import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';
import { ConfigError } from '../../shared/config/variables.ts';
import { throwPortError } from '../../shared/runtime/port-error.ts';
import type { ConsoleConfig } from './config.ts';

// It is beside this file, both in the source and in the compiled program.
const builtFolder = fileURLToPath(new URL('built', import.meta.url));

// How long a stop waits for answers that are being sent.
const lastAnswersMs = 250;

// What a stranger may cost: connections, each with one header, are all that takes memory here.
const maxConnections = 1_000;
const limits = {
  maxHeaderSize: 8_192,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  // How often Node checks for requests past their timeout.
  connectionsCheckingInterval: 5_000,
};

/** A running console. */
export interface RunningConsole {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves the built page (design 11), which is created for each request, because its Content-Security-Policy has a nonce.
 * Rejects with a `ConfigError` if the folder has no built page or the port can't be bound.
 */
export async function startConsole(config: ConsoleConfig, folder = builtFolder): Promise<RunningConsole> {
  const html = await readFile(`${folder}/index.html`, 'utf8').catch(() => {
    throw new ConfigError(`there is no built page in ${folder}: run \`npm run build\` first`);
  });
  const json = JSON.stringify(config.page);
  const quoted = json.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
  const template = html.replace('CONSOLE_CONFIG', () => quoted);
  const urls = [config.page.slotUrl, config.page.couponUrl, ...config.oidcOrigins];
  const origins = [...new Set(urls.map((url) => new URL(url).origin))].join(' ');
  const sendAsset = sirv(folder, { brotli: true, gzip: true, immutable: true, maxAge: 31_536_000 });
  const server = createServer(limits, (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '/';
    response.setHeader('x-content-type-options', 'nosniff');
    if (request.method !== 'GET' && request.method !== 'HEAD') sendStatus(response, 405);
    else if (path === '/healthz' || path === '/readyz') sendStatus(response, 200);
    else if (path.startsWith('/assets/')) sendAsset(request, response, () => sendStatus(response, 404));
    else sendPage(request, response, template, origins);
  });
  server.maxConnections = maxConnections;
  server.listen(config.port, config.bindAddress);
  await once(server, 'listening').catch(throwPortError(config.bindAddress, config.port));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : config.port,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      // Connections that have sent nothing, or only part of a request, do not count as idle.
      const timer = setTimeout(() => server.closeAllConnections(), lastAnswersMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function sendStatus(response: ServerResponse, status: number): void {
  const allow = status === 405 && { allow: 'GET, HEAD' };
  response.writeHead(status, { 'content-type': 'text/plain', 'cache-control': 'no-store', ...allow });
  response.end(status === 200 ? 'ok\n' : `${status}\n`);
}

/** Sends the page for every path. The page itself decides which paths exist. */
function sendPage(request: IncomingMessage, response: ServerResponse, template: string, origins: string): void {
  const nonce = randomBytes(16).toString('base64');
  // Whether a page of another site has led the browser here decides whether a token in the link is taken.
  const arrival = request.headers['sec-fetch-site'] === 'cross-site' ? 'cross-site' : '';
  const html = template
    .replaceAll('CSP_NONCE', nonce)
    // For browsers whose clock is wrong.
    .replace('CONSOLE_TIME', String(Date.now()))
    .replace('CONSOLE_ARRIVAL', arrival);
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    // The component library adds style elements, with the nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    // The catalogue's images are wherever the business keeps them, or in their addresses. Images run no scripts.
    "img-src 'self' https: data:",
    `connect-src 'self' ${origins}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy.join('; '),
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      // A window that a page of another site has opened is no longer tied to it.
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    })
    .end(request.method === 'HEAD' ? undefined : html);
}
