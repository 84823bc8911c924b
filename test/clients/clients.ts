import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInEachBrowser, type Launch } from '../e2e/browser.ts';
import { protocols } from '../e2e/page-calls.ts';
import { toJsonName } from '../support/contract.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { succeed } from '../support/processes.ts';
import { callByGrpcurl } from './grpcurl.ts';
import type { Outcome, Target } from './outcome.ts';
import { callFromPage } from './page.ts';

const python = process.env.PYTHON ?? 'python3';
/** Where Debian's packages of Go are. */
const goPackages = '/usr/share/gocode';

const isOnPath = (program: string) =>
  (process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, program)));
const missingOf = (...programs: string[]) => {
  const missing = programs.find((program) => !isOnPath(program));
  return missing === undefined ? undefined : `no ${missing} on the PATH`;
};
const hasGrpcio = () => spawnSync(python, ['-c', 'import grpc, google.protobuf'], { stdio: 'ignore' }).status === 0;
const missingPython =
  missingOf('protoc', 'grpc_python_plugin') ?? (hasGrpcio() ? undefined : `${python} has no grpcio`);
const missingGo =
  missingOf('go', 'protoc-gen-go', 'protoc-gen-go-grpc') ??
  (existsSync(`${goPackages}/src/google.golang.org/grpc`) ? undefined : `no gRPC in ${goPackages}`);

/** Declares what every client has to see, of the outcome of one that calls a service. */
function testsOf(name: string, outcomeOf: () => Promise<Outcome>): void {
  let outcome: Outcome;

  beforeAll(async () => {
    outcome = await outcomeOf();
  });

  it(`${name} reads the slot that it has created`, () => {
    expect(outcome.read).toMatch(/^2090-05-01T10:00:00(?:\.000)?Z$/);
  });

  it(`${name} sees the reason of an error, and the fields that were refused`, () => {
    expect(outcome.reasons).toEqual(['SLOT_NOT_FOUND']);
    // In JSON, fields have their JSON names.
    expect(outcome.fields.map(toJsonName)).toEqual(['vendorSnippets[0].productIds[1]']);
  });

  it(`${name} watches the stores, and sees a new version after its write`, () => {
    const [before = 0, after = 0] = outcome.versions;
    expect(before).toBeGreaterThan(0);
    expect(after).toBeGreaterThan(before);
  });

  it(`${name} sends a write again under its key, and gets the answer of the first time`, () => {
    expect(outcome.isSame).toBe(true);
    expect(outcome.replayed).toEqual([false, true]);
  });

  it(`${name} holds a unit of the slot, confirms the booking and releases it`, () => {
    expect(outcome.remaining).toEqual([2, 1]);
    expect(outcome.states).toEqual(['HELD', 'BOOKED', 'RELEASED'].map((state) => `SLOT_BOOKING_STATE_${state}`));
  });
}

/** Declares tests of pages of other origins in a browser, as `describeClients`. */
export function describePages(launch: Launch, target: () => Target): void {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
  });

  afterAll(() => browser?.close());

  describe.each(protocols)('over %s', (protocol) => {
    testsOf(`A page over ${protocol}`, () => callFromPage(browser, protocol, target()));
  });
}

/**
 * Declares tests of clients that others write: in Python, in Go, by grpcurl, and on a page. Where a program is missing, they
 * are skipped with the reason, unless REQUIRE_CLIENTS is set; grpcurl is never required, because Debian does not have it.
 *
 * @param target gives the service once the tests run. It has to allow pages of `http://localhost:*`.
 */
export function describeClients(target: () => Target): void {
  describeUnless(missingPython, 'A client in Python', 'REQUIRE_CLIENTS', () => {
    testsOf('A client in Python', () =>
      callByProgram('python', target(), (folder) => [
        python,
        ['test/clients/python/client.py'],
        { PYTHONPATH: folder },
      ]),
    );
  });

  describeUnless(missingGo, 'A client in Go', 'REQUIRE_CLIENTS', () => {
    testsOf('A client in Go', () =>
      callByProgram('go', target(), (folder) => {
        const env = { GO111MODULE: 'off', GOPATH: `${folder}:${goPackages}` };
        return ['go', ['run', 'test/clients/go/main.go'], env];
      }),
    );
  });

  describeUnless(missingOf('grpcurl'), 'grpcurl', undefined, () => {
    testsOf('grpcurl', () => callByGrpcurl(target()));
  });

  describeInEachBrowser('A page of another origin', (launch) => describePages(launch, target));
}

type Command = readonly [command: string, args: readonly string[], env: NodeJS.ProcessEnv];

/** Generates code with the template of a folder here, and runs a program with it. Rejects with what it prints if it fails. */
async function callByProgram(
  language: 'python' | 'go',
  { grpcPort, token }: Target,
  commandWith: (folder: string) => Command,
): Promise<Outcome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'client-'));
  try {
    const generated = language === 'go' ? path.join(folder, 'src') : folder;
    const template = `test/clients/${language}/buf.gen.yaml`;
    await succeed('npx', ['buf', 'generate', '--template', template, '--output', generated]);
    const [command, args, env] = commandWith(folder);
    return JSON.parse(await succeed(command, [...args, `localhost:${grpcPort}`], { ...env, TOKEN: token }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
