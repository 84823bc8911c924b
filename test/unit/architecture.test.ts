import { existsSync } from 'node:fs';
import path from 'node:path';
import type { DescService } from '@bufbuild/protobuf';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { allServices, couponServices } from '../support/all-services.ts';
import { filesIn, matches, read, sourceFiles } from '../support/repository.ts';

/** The folders of the source, lowest first: a file imports from its own folder and from those below it. */
const folders = [
  ...['shared/gen', 'shared/errors', 'shared/cancellation', 'shared/db/statement.ts', 'shared/db/caller.ts'],
  ...['shared/fairness', 'shared/clock', 'shared/config', 'shared/internals', 'shared/telemetry'],
  ...['shared/db/errors.ts', 'shared/db/pool', 'shared/db', 'shared/searching', 'shared/reads', 'shared/auth'],
  ...['shared/jobs', 'shared/tls', 'shared/rpc/answers', 'shared/rpc/limits', 'shared/rpc'],
  ...[
    'shared/rpc/idempotency',
    'shared/audit',
    'shared/holds',
    'shared/webhooks',
    'shared/rpc/interceptors',
    'shared/rpc/grpc',
    'shared/rpc/web',
  ],
  ...['shared/runtime', 'services/client/connect', 'services/client', 'services/client/package'],
  ...['services/dev/seed', 'services/dev/ports.ts', 'services/dev/postgres', 'services/dev'],
  ...['services/dev/release', 'services/coupon-service/errors.ts', 'services/coupon-service/coupons'],
  ...['services/coupon-service/listing', 'services/coupon-service/guessing', 'services/coupon-service/redemptions'],
  ...['services/coupon-service/batches', 'services/coupon-service/parts.ts', 'services/coupon-service/procedures'],
  ...['services/coupon-service', 'services/slot-service/errors.ts', 'services/slot-service/slots'],
  ...['services/slot-service/catalog', 'services/slot-service/stores'],
  ...['services/slot-service/plan'],
  ...['services/slot-service/parts.ts', 'services/slot-service/bookings'],
  ...['services/slot-service/imports', 'services/slot-service/procedures'],
  ...['services/slot-service/import-command', 'services/slot-service', 'services/dev/operate.ts'],
  ...['services/staff-console/page-config.ts', 'services/staff-console/page/words.ts'],
  ...['services/staff-console/page/session'],
  ...['services/staff-console/page/rpc', 'services/staff-console/page/business', 'services/staff-console/page/ui'],
  ...['services/staff-console/page/forms', 'services/staff-console/page/lists'],
  ...['services/staff-console/page/lookup', 'services/staff-console/page/sequence'],
  ...['services/staff-console/page/audit/trail'],
  ...['services/staff-console/page/slots/record', 'services/staff-console/page/slots/bookings'],
  ...['services/staff-console/page/redemptions'],
  ...['services/staff-console/page/audit'],
  ...['services/staff-console/page/live'],
  ...['services/staff-console/page/slots/snippets', 'services/staff-console/page/slots/sequence'],
  ...[
    'services/staff-console/page/slots/bulk',
    'services/staff-console/page/slots/week',
    'services/staff-console/page/slots/sheets',
  ],
  ...['services/staff-console/page/slots', 'services/staff-console/page/coupons/record'],
  ...['services/staff-console/page/coupons/form'],
  ...['services/staff-console/page/coupons/issue', 'services/staff-console/page/coupons/reserved'],
  ...['services/staff-console/page/coupons/batches', 'services/staff-console/page/coupons'],
  ...[
    'services/staff-console/page/users',
    'services/staff-console/page/overview',
    'services/staff-console/page/search',
  ],
  ...['services/staff-console/page/layout', 'services/staff-console/page', 'services/staff-console'],
];
const maxFiles = 12;
const consolePage = 'services/staff-console/page';

const folderOf = (file: string) => {
  if (file.startsWith('shared/gen/')) return 'shared/gen';
  return folders.includes(file) ? file : path.dirname(file);
};

/** What a file imports, types included. */
function importNamesOf(file: string): string[] {
  return ts.preProcessFile(read(file), true, true).importedFiles.map(({ fileName }) => fileName);
}

/** The files of this project that a file imports, types included. */
function importsOf(file: string): string[] {
  return importNamesOf(file)
    .map((name) => name.replace(/^#gen\/(.+)/, `${path.relative(path.dirname(file), 'shared/gen')}/$1.ts`))
    .filter((name) => name.startsWith('.'))
    .map((name) => path.normalize(path.join(path.dirname(file), name)));
}

/** The files that a program imports, its own first. */
function importedBy(main: string): ReadonlySet<string> {
  const imported = new Set([main]);
  // The loop also visits the files that are added meanwhile.
  for (const file of imported)
    for (const other of importsOf(file)) if (sourceFiles.includes(other)) imported.add(other);
  return imported;
}

/** The first circle of imports that is reached from a file; undefined when there is none. */
function circleFrom(file: string, seen: Set<string>, way: readonly string[] = []): readonly string[] | undefined {
  if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
  if (seen.has(file)) return undefined;
  seen.add(file);
  const imports = importsOf(file).filter((imported) => sourceFiles.includes(imported));
  return imports.map((imported) => circleFrom(imported, seen, [...way, file])).find((circle) => circle !== undefined);
}

describe('The folders of the source', () => {
  it('The folders of the source each have a place in their order', () => {
    expect([...new Set(sourceFiles.map(folderOf))].sort()).toEqual(
      folders.filter((folder) => folder !== 'shared/gen').sort(),
    );
  });

  it('The folders of shared are those of the map in docs/architecture.md', () => {
    const map = /^shared\/\n((?: {2}.*\n)+)/m.exec(read('docs/architecture.md'))?.[1] ?? '';
    const mapped = matches(map, /^ {2}((?:[\w-]+\/ )+)/gm).flatMap((names) => names.trim().split(' '));
    const there = filesIn('shared').map((file) => `${file.split('/')[1]}/`);
    expect(mapped.toSorted()).toEqual([...new Set(there)].sort());
  });

  it('The parts that a bench loads as they are built are those that it has the types of', () => {
    const loads = filesIn('test/bench').flatMap((file) =>
      [...read(file).matchAll(/typeof import\('\.\.\/\.\.\/([^']+)\.ts'\) = await built\(\s*'([^']+)\.js'/g)].map(
        ([, type, part]) => [type, part],
      ),
    );
    expect(loads).toHaveLength(2);
    expect(loads.filter(([type, part]) => type !== part)).toEqual([]);
  });

  it.each(sourceFiles)('%s imports nothing from a folder above its own', (file) => {
    const level = folders.indexOf(folderOf(file));
    const above = importsOf(file).filter((imported) => folders.indexOf(folderOf(imported)) > level);
    expect(above).toEqual([]);
  });

  it('The page of the console imports nothing that is shared but what is generated and what browsers have of the client', () => {
    const imported = sourceFiles.filter((file) => file.startsWith(`${consolePage}/`)).flatMap(importsOf);
    const outside = imported.filter((file) => !file.startsWith(`${consolePage}/`)).map(folderOf);
    expect([...new Set(outside)].sort()).toEqual([
      'services/client/connect',
      'services/staff-console/page-config.ts',
      'shared/gen',
    ]);
  });

  // They would take 15 MB and an eighth of coupon-service's start.
  it.each([
    ['services/coupon-service/main.ts', ['bullmq', 'ioredis', 'node-pg-migrate']],
    ['services/slot-service/main.ts', ['node-pg-migrate']],
  ])('%s imports none of the libraries that only other programs need', (main, unneeded) => {
    const names = [...importedBy(main)].flatMap(importNamesOf);
    const isOf = (library: string) => names.some((name) => name === library || name.startsWith(`${library}/`));
    expect(unneeded.filter(isOf)).toEqual([]);
  });

  it('The folders hold no two files that import one another, directly or in a circle', () => {
    const seen = new Set<string>();
    const circles = sourceFiles.map((file) => circleFrom(file, seen)).filter((circle) => circle !== undefined);
    expect(circles).toEqual([]);
  });

  // The procedures are as many as the contract has.
  it.each(folders.filter((folder) => !folder.endsWith('/procedures')))(`%s has at most ${maxFiles} files`, (folder) => {
    expect(sourceFiles.filter((file) => folderOf(file) === folder).length).toBeLessThanOrEqual(maxFiles);
  });
});

describe('Every procedure', () => {
  const testFolders = [
    'slot',
    'bookings',
    'stores',
    'plan',
    'catalog',
    'imports',
    'coupon',
    'redemption',
    'batches',
    'audit',
  ];
  const sourceOf = (service: DescService) => {
    if (service === AuditService) return 'shared/audit';
    return `services/${couponServices.includes(service) ? 'coupon' : 'slot'}-service/procedures`;
  };
  const places = allServices.flatMap((service, at) =>
    service.methods.map(({ name }) => {
      const file = name.replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
      return [name, `${sourceOf(service)}/${file}.ts`, `test/contract/${testFolders[at]}/${file}.test.ts`] as const;
    }),
  );

  it.each(places)('%s stands in %s and is tested in %s', (_name, source, test) => {
    expect(existsSync(source), source).toBe(true);
    expect(existsSync(test), test).toBe(true);
  });

  it('Every file of procedures is a procedure of the contract', () => {
    const expected = places.map(([, source]) => source).filter((source) => source.includes('/procedures/'));
    expect(sourceFiles.filter((file) => file.includes('/procedures/')).sort()).toEqual(expected.sort());
  });
});
