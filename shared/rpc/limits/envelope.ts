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
