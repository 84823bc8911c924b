import { type Context, context, isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api';

// W3C Trace Context, level 2: version, trace, parent, flags; a later version may have more.
const form = /^(?!ff)([\da-f]{2})-((?!0{32})[\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** The trace of a `traceparent` header; undefined for none, or one that is not valid. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  if (traceparent === undefined) return undefined;
  const [, version, traceId, more] = form.exec(traceparent) ?? [];
  return version === '00' && more !== undefined ? undefined : traceId;
}

/**
 * The `traceparent` of what runs now, for the calls that it makes; undefined outside of a trace that
 * is recorded.
 */
export function currentTraceparent(active: Context = context.active()): string | undefined {
  const span = trace.getSpanContext(active);
  if (span === undefined || !isSpanContextValid(span) || (span.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
  return `00-${span.traceId}-${span.spanId}-0${span.traceFlags & TraceFlags.SAMPLED}`;
}
