import { setTimeout as delay } from 'node:timers/promises';
import { Client, credentials } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';

const callTimeoutMs = 1_000;
const pauseMs = 50;

/** Resolves once the gRPC port answers SERVING and the web port is ready; rejects with the signal. */
export async function untilServing(
  host: string,
  grpcPort: number,
  webPort: number,
  signal: AbortSignal,
): Promise<void> {
  const client = new Client(`${host}:${grpcPort}`, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 200,
  });
  try {
    while (!(await isServing(client)) || !(await isReady(host, webPort))) await delay(pauseMs, undefined, { signal });
  } finally {
    client.close();
  }
}

function isServing(client: Client): Promise<boolean> {
  const check = healthService.Check;
  if (check === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      check.path,
      check.requestSerialize,
      check.responseDeserialize,
      { service: '' },
      { deadline: Date.now() + callTimeoutMs },
      (error, answer) => resolve(!error && answer !== undefined && 'status' in answer && answer.status === 'SERVING'),
    );
  });
}

async function isReady(host: string, webPort: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(callTimeoutMs);
    return (await fetch(`http://${host}:${webPort}/readyz`, { signal })).ok;
  } catch {
    return false;
  }
}
