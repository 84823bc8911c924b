import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { consoleFolder } from '../support/build-program.ts';
import { permissive, termsOf } from '../support/licences.ts';
import { run } from '../support/processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const assets = path.join(inject('programFolder'), consoleFolder, 'assets');

interface Sbom {
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly { readonly purl: string; readonly properties: readonly { readonly name: string }[] }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

describe('The SBOM of the build', () => {
  let folder: string;
  let sbom: Sbom;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sbom-test-'));
    const built = path.join(folder, consoleFolder);
    await mkdir(built, { recursive: true });
    await symlink(assets, path.join(built, 'assets'));
    const { code, stderr } = await run('npm', ['run', '--silent', 'sbom', '--', folder]);
    if (code !== 0) throw new Error(`no SBOM was written: ${stderr}`);
    sbom = JSON.parse(await readFile(path.join(folder, 'sbom.cdx.json'), 'utf8'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const packagesInSbom = () => sbom.components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));

  it('The SBOM lists exactly what is installed for production, and what is in the page of the console', async () => {
    const { packages } = JSON.parse(await readFile(path.join(root, 'node_modules/.package-lock.json'), 'utf8'));
    const locked = Object.entries<{ version: string; dev?: boolean }>(packages);
    const production = locked
      .filter(([, { dev }]) => !dev)
      .map(([location, { version }]) => `${location.replace(/^.*node_modules\//, '')}@${version}`);
    const inPage: { name: string; version: string }[] = JSON.parse(
      await readFile(path.join(assets, 'licenses.json'), 'utf8'),
    );
    const page = inPage.map(({ name, version }) => `${name}@${version}`);
    expect(page).toEqual(expect.arrayContaining([expect.stringMatching(/^react-dom@/)]));
    expect(new Set(packagesInSbom())).toEqual(new Set([...production, ...page]));
  });

  it('The SBOM is that of this project, and calls nothing in it a tool of the build', () => {
    expect(sbom.metadata.component.name).toBe('delivery-admin');
    const properties = sbom.components.flatMap((component) => component.properties.map(({ name }) => name));
    expect(properties).not.toContain('cdx:npm:package:development');
  });

  it('The SBOM refers to nothing that it does not list', () => {
    const refs = sbom.dependencies.map(({ ref }) => ref);
    expect(refs).toHaveLength(sbom.components.length + 1);
    for (const { dependsOn } of sbom.dependencies) expect(refs).toEqual(expect.arrayContaining([...dependsOn]));
  });
});

describe('The page of the console', () => {
  it('The libraries in the page of the console have permissive licences', async () => {
    const libraries: { name: string; identifier: string }[] = JSON.parse(
      await readFile(path.join(assets, 'licenses.json'), 'utf8'),
    );
    const refused = libraries.filter(
      ({ identifier }) => !termsOf(identifier).every((term) => permissive.includes(term)),
    );
    expect(refused).toEqual([]);
  });

  it('The page of the console comes with the licence of each library in it', async () => {
    const libraries: { name: string; identifier: string; text?: string }[] = JSON.parse(
      await readFile(path.join(assets, 'licenses.json'), 'utf8'),
    );
    // The packages of Buf have no file with the text, which stands beside other libraries here, and in a file of its own.
    const withoutText = libraries.filter(({ text }) => text === undefined);
    expect(withoutText.filter(({ name }) => !/^@(?:bufbuild|connectrpc)\//.test(name))).toEqual([]);
    for (const { identifier } of withoutText)
      expect(identifier).toMatch(/^(?:Apache-2.0|\(Apache-2.0 AND BSD-3-Clause\))$/);
    expect(libraries).toContainEqual(expect.objectContaining({ identifier: 'Apache-2.0', text: expect.any(String) }));
    expect(await readFile(path.join(assets, 'protobuf-license.txt'), 'utf8')).toContain('Copyright 2008 Google Inc.');
  });
});
