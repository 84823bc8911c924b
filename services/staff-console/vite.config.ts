import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import optimizeLocales from '@react-aria/optimize-locales-plugin';
import { defineConfig, type Plugin } from 'vite';

/** Builds the page into `built`, or into the folder that `--outDir` names. */
export default defineConfig({
  root: fileURLToPath(new URL('page', import.meta.url)),
  // The server replaces this placeholder in each response.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    outDir: '../built',
    emptyOutDir: true,
    target: 'es2022',
    // The oldest browsers that the console works in (docs/console.md): nested rules are unfolded for them.
    cssTarget: ['chrome120', 'firefox125', 'safari17.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Lists the licences of the page's libraries, for readers and for the SBOM.
    license: { fileName: 'assets/licenses.json' },
    // Hides warnings about directives, which only servers that render React need.
    rolldownOptions: { onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log) },
  },
  // The page is in English, so the component library needs no other language.
  plugins: [optimizeLocales.vite({ locales: ['en-US'] }), compressedCopies()],
});

/** Writes a brotli and a gzip copy of each asset, so that the server need not compress anything. */
function compressedCopies(): Plugin {
  return {
    name: 'compressed-copies',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const assets = path.join(dir, 'assets');
      const files = (await readdir(assets)).filter((name) => /\.(js|css|svg)$/.test(name));
      for (const name of files) {
        const file = path.join(assets, name);
        const content = await readFile(file);
        await writeFile(`${file}.br`, brotliCompressSync(content));
        await writeFile(`${file}.gz`, gzipSync(content));
      }
    },
  };
}
