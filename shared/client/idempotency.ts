import { randomUUID } from 'node:crypto';
import type { DescService } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';
import { isMutation, keyHeader } from '../rpc/idempotency/key.ts';

/**
 * Creates an interceptor that sends an `idempotency-key` with each mutation of these services that has none, so that all
 * attempts together execute it once (design 9).
 */
export function sendKey(services: readonly DescService[]): Interceptor {
  return (next) => (request) => {
    const needsKey = isMutation(request.method) && services.includes(request.service);
    if (needsKey && !request.header.has(keyHeader)) request.header.set(keyHeader, randomUUID());
    return next(request);
  };
}
