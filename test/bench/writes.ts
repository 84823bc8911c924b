import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { type Sample, sampleOf } from './load.ts';

/**
 * Calls a procedure with a new request each time, which h2load can't.
 * Throws when a call fails.
 *
 * @param keyed sends an idempotency key of its own with each call.
 * @param callers how many calls are in flight.
 */
export async function writeLoad(
  port: number,
  procedure: string,
  token: string,
  request: () => Buffer,
  count: number,
  { callers, keyed }: { callers: number; keyed: boolean },
): Promise<Sample> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadataOfCall = () => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    if (keyed) metadata.set('idempotency-key', randomUUID());
    return metadata;
  };
  const asItIs = (bytes: Buffer) => bytes;
  const call = (bytes: Buffer) =>
    new Promise<void>((resolve, reject) => {
      client.makeUnaryRequest(procedure, asItIs, asItIs, bytes, metadataOfCall(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  const took: number[] = [];
  const begin = performance.now();
  let left = count;
  const callOn = async () => {
    while (left > 0) {
      left -= 1;
      const bytes = request();
      const start = performance.now();
      await call(bytes);
      took.push(performance.now() - start);
    }
  };
  try {
    await Promise.all(Array.from({ length: callers }, callOn));
    return sampleOf(took, (performance.now() - begin) / 1000);
  } finally {
    client.close();
    // Its socket is let go.
    await delay(10);
  }
}
