import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../bench/calls-stage.ts';
import { filesIn, matches, read } from '../support/repository.ts';

const inRoot = (file: string) => path.join(root, file);

const docs = filesIn('docs').filter((file) => file.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...docs];
const isFolder = (file: string) => statSync(inRoot(file), { throwIfNoEntry: false })?.isDirectory() ?? false;
/** The folders of the repository that a page may name. What is built or made by a start is not among them. */
const roots = readdirSync(root).filter((name) => isFolder(name) && !/^(?:\.|dist$|node_modules$)/.test(name));
const testFiles = filesIn('test').map((file) => path.basename(file));

const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));

/** A page without its blocks of code, which may hold what looks like a link or a heading. */
const textOf = (page: string) => read(page).replace(/^```.*?^```$/gms, '');

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const headings = matches(textOf(page), /^#+ (.*)$/gm);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Whether a relative link of a page leads to a file or folder and, after a `#`, to one of its headings. */
function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : path.join(path.dirname(page), file);
  return existsSync(inRoot(target)) && (anchor === undefined || anchorsOf(target).includes(anchor));
}

it('README has fewer than 150 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThan(150);
});

describe('docs/variables.md', () => {
  const others = ['shared/db/migrate-main.ts', 'services/dev/settings.ts', 'services/staff-console/config.ts'];
  const sources = [...filesIn('shared/config'), ...others];
  const code = sources.map(read).join('\n');
  const rows = matches(read('docs/variables.md'), /^\| (`[^|]*) \|/gm).join();

  it('docs/variables.md has a row for each variable that the configuration reads', () => {
    const names = new Set(matches(code, /(?:'|env\.)([A-Z]+(?:_[A-Z]+)+)\b/g));
    expect(names.size).toBeGreaterThan(20);
    expect([...names].filter((name) => !rows.includes(`\`${name}\``))).toEqual([]);
  });

  it('docs/variables.md has no row for a variable that the configuration does not read', () => {
    const names = matches(rows, /`([A-Z_]+)`/g);
    // The name of a port begins with that of its service.
    const inCode = (name: string) => name.replace(/^(?:SLOT|COUPON)(_\w+_PORT)$/, '$1');
    expect(names.filter((name) => !new RegExp(`${inCode(name)}\\b`).test(code))).toEqual([]);
  });
});

it.each([
  ['python', 'test/clients/python/client.py'],
  ['go', 'test/clients/go/main.go'],
])('docs/calling.md shows a part of the client in %s that is tested', (language, program) => {
  const blocks = matches(read('docs/calling.md'), new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  expect(blocks).toHaveLength(1);
  for (const block of blocks) expect(read(program)).toContain(block);
});

describe.each(pages)('%s', (page) => {
  it(`${page} has relative links that lead to files and headings`, () => {
    const links = matches(textOf(page), /\]\(([^)\s]+)\)/g).filter((link) => !/^https?:/.test(link));
    expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });

  it(`${page} names source and test files that exist`, () => {
    const names = matches(textOf(page), /`((?:[\w.-]+\/)+[\w.-]+\.(?:tsx?|conf|md)|[\w-]+\.test\.ts)`/g);
    expect(names.filter((name) => !existsSync(inRoot(name)) && !testFiles.includes(name))).toEqual([]);
  });

  it(`${page} names folders that exist`, () => {
    const names = matches(textOf(page), /`([\w-]+\/[\w/-]*|[\w-]+(?:\/[\w-]+)+)`/g);
    const folders = names.filter((name) => roots.includes(name.split('/', 1)[0] ?? ''));
    expect(folders.filter((name) => !isFolder(name))).toEqual([]);
  });

  it(`${page} names npm scripts that exist`, () => {
    const names = matches(read(page), /\bnpm run (?:--?[\w-]+ )*([\w-]+(?::[\w-]+)*)/g);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });

  it(`${page} has no comment that stands for text to come`, () => {
    expect(matches(read(page), /(<!--.*)/g)).toEqual([]);
  });
});
