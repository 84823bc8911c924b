import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type DescMessage, type MessageShape, toBinary, toJsonString } from '@bufbuild/protobuf';
import { track } from './servers.ts';

/** What one round of load saw. */
export interface Sample {
  readonly perSecond: number;
  readonly calls: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Calls of one kind, for h2load. */
export interface Calls {
  readonly port: number;
  readonly path: string;
  readonly bodyFile: string;
  readonly json: boolean;
  readonly token: string;
  /** A call whose answer is shorter has failed. */
  readonly answerBytes: number;
  /** Where its log goes. */
  readonly folder: string;
}

export interface Intensity {
  readonly connections: number;
  /** Calls in flight on each. */
  readonly streams: number;
}

/** A file with a request as h2load sends it. */
export async function bodyFile<Schema extends DescMessage>(
  file: string,
  schema: Schema,
  message: MessageShape<Schema>,
  json: boolean,
): Promise<string> {
  await writeFile(file, json ? toJsonString(schema, message) : frame(toBinary(schema, message)));
  return file;
}

/** A gRPC frame around a message. */
export function frame(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/**
 * Runs h2load for a number of calls. Not for a time: it would leave the last calls behind, which the
 * server then answers at the cost of the next round. Throws when a call fails.
 */
export async function h2load(calls: Calls, intensity: Intensity, count: number): Promise<Sample> {
  const log = path.join(calls.folder, `h2load-${Math.random()}.log`);
  const headers = calls.json ? ['content-type: application/json'] : ['content-type: application/grpc', 'te: trailers'];
  const stdout = await run('taskset', [
    ...['-c', '1', 'h2load'],
    ...(calls.json ? ['--h1'] : []),
    ...['-c', String(intensity.connections), '-m', String(intensity.streams), '-n', String(count)],
    ...['-d', calls.bodyFile, `--log-file=${log}`],
    ...[...headers, `authorization: Bearer ${calls.token}`].flatMap((header) => ['-H', header]),
    `http://127.0.0.1:${calls.port}${calls.path}`,
  ]);
  const rows = (await readFile(log, 'utf8')).trim().split('\n');
  const ends: number[] = [];
  const took: number[] = [];
  for (const row of rows) {
    const [start, status, microseconds] = row.split('\t').map(Number);
    if (status !== 200 || start === undefined || microseconds === undefined) throw new Error(`${row}\n${stdout}`);
    ends.push(start + microseconds);
    took.push(microseconds / 1000);
  }
  if (rows.length !== count) throw new Error(`${rows.length} of ${count} calls were made\n${stdout}`);
  // A gRPC call that fails has status 200 too, but no message.
  const dataBytes = Number(/\((\d+)\) data/.exec(stdout)?.[1]);
  if (!(dataBytes >= 0.98 * rows.length * calls.answerBytes)) throw new Error(`calls failed\n${stdout}`);
  const begin = Number(rows[0]?.split('\t')[0]);
  const elapsed = (ends.reduce((latest, end) => Math.max(latest, end), 0) - begin) / 1e6;
  return sampleOf(took, elapsed);
}

/** @param took milliseconds of each call. */
export function sampleOf(took: readonly number[], seconds: number): Sample {
  const sorted = took.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { perSecond: took.length / seconds, calls: took.length, p50: at(0.5), p99: at(0.99) };
}

/** The output of a command, which ends with this process. */
export function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    track(execFile(command, [...args], (error, stdout) => (error === null ? resolve(stdout) : reject(error))));
  });
}
