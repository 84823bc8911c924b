import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { buildConsolePage } from '../../services/dev/console-page.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the compiled program, which processes under test run. */
    programFolder: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Programs of tests, which run in processes of their own. */
const testPrograms = [
  'test/fuzz/memory-probe.ts',
  'test/load/idle-connections.ts',
  'test/load/reset-attacker.ts',
  'test/support/http2-frames.ts',
];

/** Where the page of the staff console is built, inside the folder of the program. */
export const consoleFolder = 'services/staff-console/built';

/** Compiles each file to one of its own: a process then loads the files that the source names. */
const keepFilesApart: Plugin = {
  name: 'keep-files-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path: file, kind }) =>
      kind === 'entry-point' ? undefined : { path: file.replace(/\.ts$/, '.js'), external: true },
    );
  },
};

/** Vitest's global setup: compiles the program once for all processes of this run. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await buildProgram();
  project.provide('programFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}

/** Compiles the program, and builds the page of the staff console in its folder. Resolves with the folder. */
export async function buildProgram(): Promise<string> {
  const folder = await buildPrograms(root);
  await buildConsolePage(path.join(folder, consoleFolder));
  return folder;
}

/**
 * Compiles services, shared code and the programs of tests of a project, this one or another release, into a new folder. Resolves
 * with the folder. A service that starts from there takes 0.9 s of CPU; one that tsx compiles as it loads takes 2 s.
 */
export async function buildPrograms(root: string): Promise<string> {
  // Inside the project, where Node finds its packages.
  const cache = path.join(root, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, 'test-program-'));
  const [services, shared] = await Promise.all(['services', 'shared'].map((part) => sourcesOf(root, part)));
  await build({
    absWorkingDir: root,
    // An earlier release has fewer programs of tests.
    entryPoints: [
      ...(services ?? []),
      ...(shared ?? []),
      ...testPrograms.filter((file) => existsSync(path.join(root, file))),
    ],
    outdir: folder,
    outbase: root,
    bundle: true,
    packages: 'external',
    plugins: [keepFilesApart],
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
  });
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  for (const read of ['shared/db/migrations', 'shared/gen/openapi']) {
    // Release 1.0.0 has no OpenAPI documents.
    if (existsSync(path.join(root, read)))
      await cp(path.join(root, read), path.join(folder, read), { recursive: true });
  }
  return folder;
}

async function sourcesOf(root: string, folder: string): Promise<string[]> {
  const names = await readdir(path.join(root, folder), { recursive: true });
  // The page is built by itself.
  const sources = names.filter((name) => name.endsWith('.ts') && !name.startsWith('staff-console/page'));
  return sources.map((name) => path.join(folder, name));
}
