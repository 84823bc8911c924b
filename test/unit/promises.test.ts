import { describe, expect, it } from 'vitest';
import * as grpcClient from '../../services/client/package/grpc.ts';
import * as webClient from '../../services/client/package/index.ts';
import { type Release, readPromised } from '../../services/dev/release/promised.ts';
import { readConsoleConfig } from '../../services/staff-console/config.ts';
import { readConfig } from '../../shared/config/config.ts';
import type { Environment } from '../../shared/config/variables.ts';
import { root } from '../bench/calls-stage.ts';
import { read } from '../support/repository.ts';

const released: Release = JSON.parse(read('test/released/release.json'));
const promised = await readPromised(root);
const { scripts, version }: { scripts: Record<string, string>; version: string } = JSON.parse(read('package.json'));

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

  const added = Object.keys(promised.migrations).filter((name) => !(name in released.migrations));

  it('No migration comes before one that was released', () => {
    const last = Object.keys(released.migrations).at(-1) ?? '';
    expect(added.filter((name) => name < last)).toEqual([]);
  });

  it('No migration that services of the last release can not bear comes within a major version', () => {
    const major = (each: string) => each.split('.', 1)[0];
    const breaking = added.filter((name) => name.includes('_breaking_'));
    expect(major(version) === major(released.version) ? breaking : []).toEqual([]);
  });
});

it('The client package exports what it did in 1.0.0', () => {
  expect(Object.keys(webClient)).toEqual(
    expect.arrayContaining([
      ...['createConnectClient', 'createConnectTransport', 'createKey'],
      ...['isTransient', 'Reason', 'reasonOf', 'violationsOf'],
    ]),
  );
  const ofNode = ['createGrpcClient', 'createGrpcTransport', 'credentials'];
  expect(Object.keys(grpcClient)).toEqual(expect.arrayContaining(ofNode));
});

describe('docs/variables.md', () => {
  const set = { DATABASE_URL: 'postgres://localhost/x', AUTH_JWT_SECRET: 'x'.repeat(32) };
  const readAll = (env: Environment) => [readConfig('slot', env), readConfig('coupon', env), readConsoleConfig(env)];
  // The defaults of the others are in words, such as "no limit".
  const values = Object.entries(promised.variables)
    .map(([name, text]) => [name, text.replaceAll('`', '')] as const)
    .filter(([, text]) => /^(?:\d+|true|false|UTC|DC|info|public|http:\S+|[\d.]+)$/.test(text));

  const others: Readonly<Record<string, string>> = {
    ...{
      true: 'false',
      false: 'true',
      info: 'warn',
      UTC: 'Asia/Kolkata',
      DC: 'XY',
      public: 'delivery',
      openid: 'openid email',
    },
    ...{ '0.0.0.0': '127.0.0.1', 'http://localhost:3000': 'https://shop.example' },
  };

  it.each(values)('%s is %s unless it is set, as the page says', (name, value) => {
    expect(readAll({ ...set, [name]: value })).toEqual(readAll(set));
    const other = others[value] ?? String(Number(value) + 1);
    expect(readAll({ ...set, [name]: other })).not.toEqual(readAll(set));
  });
});

describe('docs/promises.md', () => {
  const holders = [...read('docs/promises.md').matchAll(/^\| (?!promise|---)[^|]* \| ([^|]*) \|$/gm)].map(
    ([, cell = '']) => cell,
  );

  it('Every promise names the tests that hold it, or a command of CI', () => {
    expect(holders.length).toBeGreaterThan(10);
    expect(holders.filter((cell) => !/^(`[\w./-]+\.test\.ts`(, |$))+$|^`npm run check:breaking`$/.test(cell))).toEqual(
      [],
    );
    expect(read('.ci/run')).toContain('npm run check:static');
    expect(scripts['check:static']).toContain('npm run check:breaking');
  });
});
