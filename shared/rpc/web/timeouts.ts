import { longestTimerMs } from '../limits/limits.ts';

const connectForm = /^\d{1,10}$/;
const grpcForm = /^(\d{1,8})([HMS])$/;
const unitMs = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1_000],
]);

/** Shortens the timeouts of a request to what a timer takes: one that is longer would end at once. */
export function boundTimeouts(header: Headers): void {
  const connect = header.get('connect-timeout-ms') ?? '';
  if (connectForm.test(connect) && Number(connect) > longestTimerMs) {
    header.set('connect-timeout-ms', String(longestTimerMs));
  }
  const [, count, unit = ''] = grpcForm.exec(header.get('grpc-timeout') ?? '') ?? [];
  if (Number(count) * (unitMs.get(unit) ?? 0) > longestTimerMs) {
    header.set('grpc-timeout', `${Math.floor(longestTimerMs / 1000)}S`);
  }
}
