import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const folder = fileURLToPath(new URL('page', import.meta.url));

const html = `<!doctype html>
<title>A page of another origin</title>
<link rel="icon" href="data:,">
<script type="module" src="/page.js"></script>`;

/** The files of the page by their paths. */
export type PageFiles = ReadonlyMap<string, { readonly type: string; readonly content: string }>;

export async function bundlePage(): Promise<PageFiles> {
  const { outputFiles } = await build({
    entryPoints: [`${folder}/page.ts`],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  await stop();
  const script = outputFiles.map(({ text }) => text).join('\n');
  return new Map([
    ['/', { type: 'text/html', content: html }],
    ['/page.js', { type: 'text/javascript', content: script }],
  ]);
}

/** Serves the page on an origin of its own. */
export class PageServer {
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  static async start(files: PageFiles, host = 'localhost'): Promise<PageServer> {
    const server = createServer((request, response) => {
      const file = files.get(request.url?.split('?', 1)[0] ?? '');
      if (file === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': file.type }).end(file.content);
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return new PageServer(server, `http://${host}:${port}`);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}
