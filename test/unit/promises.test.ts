import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Release, readPromised } from '../../services/dev/release/promised.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(root + file, 'utf8');

const released: Release = JSON.parse(read('test/released/release.json'));
const promised = await readPromised(root);
const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));

describe('What the last release promised', () => {
  it('Every reason of an error is there, with its code', () => {
    expect(promised.reasons).toMatchObject(released.reasons);
    expect(Object.keys(released.reasons).length).toBeGreaterThan(40);
  });

  it('Every variable is there, with its default', () => {
    expect(promised.variables).toMatchObject(released.variables);
    expect(Object.keys(released.variables).length).toBeGreaterThan(40);
  });

  it('Every migration is as it was released', () => {
    expect(promised.migrations).toMatchObject(released.migrations);
    expect(Object.keys(released.migrations).length).toBeGreaterThan(20);
  });

  it('No migration comes before one that was released', () => {
    const last = Object.keys(released.migrations).at(-1) ?? '';
    const added = Object.keys(promised.migrations).filter((name) => !(name in released.migrations));
    expect(added.filter((name) => name < last)).toEqual([]);
  });
});

describe('docs/promises.md', () => {
  const holders = [...read('docs/promises.md').matchAll(/^\| (?!promise|---)[^|]* \| ([^|]*) \|$/gm)].map(
    ([, cell = '']) => cell,
  );

  it('Every promise names the tests that hold it, or a command of CI', () => {
    expect(holders.length).toBeGreaterThan(10);
    expect(holders.filter((cell) => !/^`([\w.-]+\.test\.ts|npm run check:breaking)`$/.test(cell))).toEqual([]);
    expect(read('.ci/run')).toContain('npm run check:static');
    expect(scripts['check:static']).toContain('npm run check:breaking');
  });
});
