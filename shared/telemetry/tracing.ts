import type { DescMethod } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { codeName, toPublicError } from '../errors/errors.ts';
import type { Protocol } from './call-metrics.ts';

/** The codes that count as server faults (OpenTelemetry's conventions for RPC servers). */
const serverFaults: readonly Code[] = [
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
];

/** The part of a call that its span needs. */
export interface TracedCall {
  readonly protocol: Protocol;
  header(name: string): string | undefined;
  /** Set when the span starts. */
  traceId: string | undefined;
}

type Work<Result> = () => Promise<Result>;

/**
 * Records the spans of one service. Spans contain names and codes, but never values, tokens or error texts. This class
 * uses only OpenTelemetry's API; the SDK is loaded if traces are configured.
 */
export class Tracing {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Runs `work` in the span of a call. The span is a child of the caller's span if the caller sent one. */
  async call<Answer>(method: DescMethod, call: TracedCall, work: Work<Answer>): Promise<Answer> {
    const service = method.parent.typeName;
    const isConnect = call.protocol === 'connect';
    const attributes = {
      'rpc.system': isConnect ? 'connect_rpc' : 'grpc',
      'rpc.service': service,
      'rpc.method': method.name,
    };
    const parent = propagation.extract(ROOT_CONTEXT, call, callHeaders);
    const span = this.#tracer.startSpan(`${service}/${method.name}`, { kind: SpanKind.SERVER, attributes }, parent);
    call.traceId = span.spanContext().traceId;
    try {
      const answer = await context.with(trace.setSpan(parent, span), work);
      if (!isConnect) span.setAttribute('rpc.grpc.status_code', 0);
      return answer;
    } catch (error) {
      const { code } = toPublicError(error);
      if (isConnect) span.setAttribute('rpc.connect_rpc.error_code', codeName(code).toLowerCase());
      else span.setAttribute('rpc.grpc.status_code', code);
      if (serverFaults.includes(code)) recordFailure(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** Runs `work` in the span of a statement. Outside of any span, such as a call's, no span is recorded. */
  async statement<Result>(name: string, work: Work<Result>): Promise<Result> {
    const parent = context.active();
    if (trace.getSpan(parent) === undefined) return work();
    const span = this.#tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes: { 'db.system': 'postgresql' } },
      parent,
    );
    return this.#inSpan(span, parent, work);
  }

  /** Runs `work` in the span of a job, which starts a new trace. */
  async job<Result>(name: string, work: Work<Result>): Promise<Result> {
    const attributes = { 'messaging.system': 'bullmq', 'messaging.destination.name': name };
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes }, ROOT_CONTEXT);
    return this.#inSpan(span, trace.setSpan(ROOT_CONTEXT, span), work);
  }

  async #inSpan<Result>(span: Span, active: Context, work: Work<Result>): Promise<Result> {
    try {
      return await context.with(active, work);
    } catch (error) {
      recordFailure(span, error);
      throw error;
    } finally {
      span.end();
    }
  }
}

function recordFailure(span: Span, error: unknown): void {
  span.setAttribute('error.type', codeName(toPublicError(error).code));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const callHeaders: TextMapGetter<TracedCall> = { get: (call, name) => call.header(name), keys: () => [] };
