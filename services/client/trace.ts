import type { Interceptor } from '@connectrpc/connect';
import { currentTraceparent } from '../../shared/telemetry/trace-context.ts';

/** Sends the `traceparent` of the current span, in a process that records traces with OpenTelemetry. */
export const continueTrace: Interceptor = (next) => (request) => {
  const traceparent = currentTraceparent();
  if (traceparent !== undefined && !request.header.has('traceparent')) request.header.set('traceparent', traceparent);
  return next(request);
};
