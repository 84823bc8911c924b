import { setTimeout as delay } from 'node:timers/promises';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../shared/gen/grpc/health/v1/health_pb.ts';
import { createGrpcClient } from '../client/client.ts';

const timeoutMs = 1_000;
const intervalMs = 50;

/** Resolves once the web port is ready. Rejects when the signal aborts. */
export async function untilReady(host: string, webPort: number, signal: AbortSignal): Promise<void> {
  while (!(await isReady(host, webPort).catch(() => false))) await delay(intervalMs, undefined, { signal });
}

async function isReady(host: string, webPort: number): Promise<boolean> {
  return (await fetch(`http://${host}:${webPort}/readyz`, { signal: AbortSignal.timeout(timeoutMs) })).ok;
}

/** Resolves once the gRPC port answers SERVING and the web port is ready. Rejects when the signal aborts. */
export async function untilServing(
  host: string,
  grpcPort: number,
  webPort: number,
  signal: AbortSignal,
): Promise<void> {
  const channelOptions = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 200 };
  const health = createGrpcClient(Health, { addresses: [`${host}:${grpcPort}`], channelOptions });
  const isServing = async () => {
    const { status } = await health.check({}, { timeoutMs });
    if (status !== Status.SERVING) return false;
    return isReady(host, webPort);
  };
  try {
    while (!(await isServing().catch(() => false))) await delay(intervalMs, undefined, { signal });
  } finally {
    health.close();
  }
}
