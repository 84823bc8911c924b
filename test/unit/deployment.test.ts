import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../shared/config/config.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const compose = read('docker-compose.yml');
const dockerfile = read('Dockerfile');
const nginx = read('docker/nginx.conf');
const readme = read('README.md');
const { dependencies } = JSON.parse(read('package.json'));
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, match = '']) => match);

/** What `npm run build` compiles: see tsconfig.build.json. */
const sources = ['services', 'shared']
  .flatMap((folder) =>
    readdirSync(new URL(`../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' }).map(
      (file) => `${folder}/${file}`,
    ),
  )
  .filter((file) => file.endsWith('.ts') && !file.startsWith('shared/dev/'));

const config = (service: 'slot' | 'coupon') =>
  readConfig(service, { DATABASE_URL: 'postgres://localhost/x', AUTH_JWT_SECRET: 'x'.repeat(32) });

describe('The deployment files', () => {
  it('start what the build makes', () => {
    const programs = matches(`${dockerfile}\n${compose}`, /\bdist\/([\w./-]+)\.js\b/g);
    expect(programs).toHaveLength(4);
    for (const program of programs) expect(sources).toContain(`${program}.ts`);
  });

  it('name the ports that the services have unless told otherwise', () => {
    const [slot, coupon] = [config('slot'), config('coupon')];
    const published = matches(compose, /^ +ports: \[(.*)\]$/gm);
    expect(published).toEqual(
      [slot, coupon].map((one) => [one.grpcPort, one.webPort].map((port) => `"${port}:${port}"`).join(', ')),
    );
    expect(matches(compose, /127\.0\.0\.1:(\d+)\/readyz/g)).toEqual([`${slot.webPort}`, `${coupon.webPort}`]);
    expect(matches(nginx, /^ +listen (\d+);$/gm)).toEqual([`${slot.grpcPort}`, `${slot.webPort}`]);
    expect(matches(nginx, /^ +server slot-service:(\d+) resolve;$/gm)).toEqual([`${slot.grpcPort}`, `${slot.webPort}`]);
  });

  it('set no variable that the README does not explain', () => {
    const names = new Set(
      matches(compose, /(?:^ +|\$\{)([A-Z][A-Z_]+)[:}]/gm).filter((name) => !name.startsWith('POSTGRES_')),
    );
    expect(names.size).toBeGreaterThan(4);
    for (const name of names) expect(readme).toMatch(new RegExp(`^\\|[^|]*\`${name}\``, 'm'));
  });

  it('give a stop more time than it may take', () => {
    const [graceS] = matches(compose, /stop_grace_period: (\d+)s/g);
    expect(Number(graceS)).toBeGreaterThan(25);
  });

  it('need no file that is not there', () => {
    const files = [...matches(compose, /^ +- \.\/([^:]+):/gm), 'package.json', 'package-lock.json', '.npmrc'];
    for (const file of files) expect(existsSync(new URL(`../../${file}`, import.meta.url)), file).toBe(true);
  });
});

describe('The program that npm run build makes', () => {
  const importsOf = (file: string) =>
    matches(read(file), /(?:^(?:import|export) (?!type )(?:[^'";]*? from )?|\bimport\()'([^']+)'/gm);

  it.each(sources)('%s imports what is there without the development dependencies', (file) => {
    for (const specifier of importsOf(file).filter((name) => !name.startsWith('.') && !isBuiltin(name))) {
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      expect(Object.keys(dependencies)).toContain(name);
    }
    for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
      const target = new URL(specifier, `file:///${file}`).pathname.slice(1);
      expect(sources).toContain(target);
    }
  });
});
