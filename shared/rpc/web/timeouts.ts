import { maxTimerMs } from '../limits/limits.ts';

const connectForm = /^\d{1,10}$/;
const grpcForm = /^(\d{1,8})([HMS])$/;
const unitMs = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1_000],
]);

/** Shortens the timeouts of a request to what a timer takes: one that is longer would end at once. */
export function capTimeouts(header: Headers): void {
  const connect = header.get('connect-timeout-ms') ?? '';
  if (connectForm.test(connect) && Number(connect) > maxTimerMs) {
    header.set('connect-timeout-ms', String(maxTimerMs));
  }
  const [, count, unit = ''] = grpcForm.exec(header.get('grpc-timeout') ?? '') ?? [];
  if (Number(count) * (unitMs.get(unit) ?? 0) > maxTimerMs) {
    header.set('grpc-timeout', `${Math.floor(maxTimerMs / 1000)}S`);
  }
}
