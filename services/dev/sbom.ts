import { execFile } from 'node:child_process';
import { readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './settings.ts';

// Writes the SBOM of a built program into its folder. It lists the packages that the program needs at run time, and
// those bundled into the console's page. npm considers the latter build tools, so their list comes from the licences
// that the page's build writes.

interface Sbom {
  readonly metadata: { readonly component: object };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

const [folder = 'dist'] = process.argv.slice(2);
const read = (file: string) => readFile(path.resolve(projectRoot, file), 'utf8');
const idOf = ({ name, version }: { readonly name: string; readonly version: string }) => `${name}@${version}`;

const { stdout } = await promisify(execFile)('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'], {
  // If `node_modules` is a symlink, npm follows it only from its real folder.
  cwd: path.dirname(await realpath(path.join(projectRoot, 'node_modules'))),
  maxBuffer: Infinity,
});
const all: Sbom = JSON.parse(stdout);
const { name }: { name: string } = JSON.parse(await read('package.json'));
const inPage: { name: string; version: string }[] = JSON.parse(
  await read(path.join(folder, 'services/staff-console/built/assets/licenses.json')),
);
const page = new Set(inPage.map(idOf));

const components = all.components
  .filter((component) => !isDevelopment(component) || page.has(idOf(component)))
  .map(({ properties = [], ...rest }) => ({ ...rest, properties: properties.filter((one) => !marksDevelopment(one)) }));
const refs = new Set(components.map((component) => component['bom-ref']));
const sbom = {
  ...all,
  // npm names the project after its folder.
  metadata: { ...all.metadata, component: { ...all.metadata.component, name } },
  components,
  dependencies: all.dependencies
    .filter(({ ref }) => refs.has(ref) || ref.startsWith(`${name}@`))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
};
await writeFile(path.resolve(projectRoot, folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 1)}\n`);

function isDevelopment({ properties = [] }: Component): boolean {
  return properties.some(marksDevelopment);
}

function marksDevelopment({ name }: { readonly name: string }): boolean {
  return name === 'cdx:npm:package:development';
}
