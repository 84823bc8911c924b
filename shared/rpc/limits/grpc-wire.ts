import { commonErrors, fail } from '../../errors/errors.ts';

/** The flags and the length in front of each message of gRPC, of gRPC-Web and of Connect's streams. */
export const envelopeHeadBytes = 5;

/** Returns how long the envelope is that begins with `head`; infinite while that is incomplete. */
export function envelopeBytes(head: Buffer): number {
  return head.byteLength < envelopeHeadBytes ? Number.POSITIVE_INFINITY : envelopeHeadBytes + head.readUInt32BE(1);
}

/** Creates the UNIMPLEMENTED for a request without a message, or with several. */
export function notOneMessage() {
  return fail(commonErrors.unimplemented, { params: { method: 'A request without exactly one message' } });
}

const pattern = /^(\d{1,8})([HMSmun])$/;
const unitMs = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1_000],
  ['m', 1],
  ['u', 1e-3],
  ['n', 1e-6],
]);

/** Returns the milliseconds of a `grpc-timeout`; NaN for a malformed one. */
export function grpcTimeoutMs(timeout: string): number {
  const [, count, unit = ''] = pattern.exec(timeout) ?? [];
  return Number(count) * (unitMs.get(unit) ?? Number.NaN);
}
