import { type Context, context, isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api';

// W3C Trace Context, level 2: version, trace id, parent id, flags. Later versions may have more fields.
const form = /^(?!ff)([\da-f]{2})-((?!0{32})[\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** Returns the trace id of a `traceparent` header; undefined if the header is missing or invalid. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  if (traceparent === undefined) return undefined;
  const [, version, traceId, more] = form.exec(traceparent) ?? [];
  return version === '00' && more !== undefined ? undefined : traceId;
}

/** Returns the `traceparent` header for calls within the current span; undefined if the span is not recorded. */
export function currentTraceparent(active: Context = context.active()): string | undefined {
  const span = trace.getSpanContext(active);
  if (span === undefined || !isSpanContextValid(span) || (span.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
  return `00-${span.traceId}-${span.spanId}-0${span.traceFlags & TraceFlags.SAMPLED}`;
}
