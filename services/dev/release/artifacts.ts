import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../settings.ts';

const folder = 'dist/release';

/** The names of what a release consists of; those of files in the project's folder. */
export function artifactsOf(version: string) {
  const named = (ending: string) => `${folder}/delivery-admin-${version}${ending}`;
  return {
    client: `${folder}/delivery-admin-client-${version}.tgz`,
    /** The compiled .proto files. */
    contract: named('.binpb'),
    image: `delivery-admin:${version}`,
    imageFile: named('.tar'),
    sbom: named('.cdx.json'),
  };
}

/** Makes them of what `npm run build` and `npm run build:client` have left; the image only if Docker answers. */
export function makeArtifacts(version: string): void {
  const { client, contract, image, imageFile, sbom } = artifactsOf(version);
  const inRoot = (file: string) => path.join(projectRoot, file);
  rmSync(inRoot(folder), { recursive: true, force: true });
  mkdirSync(inRoot(folder), { recursive: true });
  copyFileSync(inRoot('dist/sbom.cdx.json'), inRoot(sbom));
  copyFileSync(inRoot(`dist/client/${path.basename(client)}`), inRoot(client));
  run('npx', 'buf', 'build', '--exclude-source-info', '--output', contract);
  if (spawnSync('docker', ['version'], { stdio: 'ignore' }).status !== 0) return;
  run('docker', 'build', '--label', `org.opencontainers.image.version=${version}`, '--tag', image, '.');
  run('docker', 'save', '--output', imageFile, image);
}

/** Runs a command in the project's folder, and shows what it prints. Throws if it fails. */
export function run(command: string, ...args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: projectRoot, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}
