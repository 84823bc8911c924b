import type { DescService } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';
import { isMutation, keyHeader } from '../../../shared/rpc/procedure.ts';

/**
 * Creates an interceptor that adds an `idempotency-key` to each mutation of these services that lacks one, so that all
 * attempts together execute it once (design 9).
 */
export function sendKey(services: readonly DescService[]): Interceptor {
  return (next) => (request) => {
    const needsKey = isMutation(request.method) && services.includes(request.service);
    if (needsKey && !request.header.has(keyHeader)) request.header.set(keyHeader, createKey());
    return next(request);
  };
}

/** Returns a new idempotency key. Browsers offer `crypto.randomUUID` only to pages served over HTTPS. */
export function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
