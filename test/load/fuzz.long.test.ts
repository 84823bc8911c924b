import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { FuzzData } from '../fuzz/fixture.ts';
import { FuzzedServices } from '../fuzz/fuzzed-services.ts';
import { requestAt } from '../fuzz/requests.ts';
import { type RunResult, runFuzz } from '../fuzz/run.ts';
import { allServices } from '../support/all-services.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const seed = 20_261_121;
const requests = 4_000;

describe('A short fuzz run', () => {
  let folder: string;
  let database: TestDatabase;
  let data: FuzzData;
  let services: FuzzedServices;
  let result: RunResult;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fuzz-test-'));
    database = await createDatabase();
    data = await FuzzData.load(database.url);
    services = await FuzzedServices.start(database.url, inject('programFolder'), folder);
    result = await runFuzz(services, data, {
      requests,
      checkedAfter: requests,
      requestAt: (index) => requestAt(seed, index),
    });
  });

  afterAll(async () => {
    await services?.stop();
    await data?.close();
    await database?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('Random and mutated requests leave both services serving, and none fails as an internal error', () => {
    expect(result.sent).toBe(requests);
    expect(result.findings).toEqual([]);
  });

  it('Random and mutated requests reach the end of every procedure', () => {
    const succeeded = [...result.counts.keys()]
      .map((key) => key.split('|'))
      .filter(([, , , outcome]) => outcome === 'OK');
    const procedures = new Set(succeeded.map(([, procedure]) => procedure));
    // Streams do not end without their clients.
    const unary = allServices.flatMap(({ methods }) => methods).filter(({ methodKind }) => methodKind === 'unary');
    const names = unary.map(({ name, parent }) => `${parent.typeName}/${name}`);
    expect(names.filter((name) => !procedures.has(name))).toEqual([]);
  });

  it('The requests are the same for the same seed', () => {
    expect(requestAt(seed, 17)).toEqual(requestAt(seed, 17));
    expect(requestAt(seed, 17)).not.toEqual(requestAt(seed + 1, 17));
  });
});
