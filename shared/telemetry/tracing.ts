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

/** What its own caller can't be blamed for (OpenTelemetry's conventions for RPC servers). */
const serverFaults: readonly Code[] = [
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
];

/** What a span needs of the call that it stands for. */
export interface TracedCall {
  readonly protocol: Protocol;
  header(name: string): string | undefined;
  traceId: string | undefined;
}

/** Runs one piece of work. */
type Work<Result> = () => Promise<Result>;

/**
 * The spans of one service: names and codes, never a value, a token or the text of an error. Knows
 * the interface of OpenTelemetry alone; its SDK is loaded where traces are asked for.
 */
export class Tracing {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** The span of a call, a child of the caller's where it sent one. */
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
      if (serverFaults.includes(code)) fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** The span of a statement, within a call or a job; what nobody traces has none. */
  async statement<Result>(name: string, work: Work<Result>): Promise<Result> {
    const parent = context.active();
    if (trace.getSpan(parent) === undefined) return work();
    const attributes = { 'db.system': 'postgresql' };
    return this.#during(this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent), parent, work);
  }

  /** The span of a job: a trace of its own, linked to those that asked for it. */
  async job<Result>(name: string, causes: readonly string[], work: Work<Result>): Promise<Result> {
    const links = causes.flatMap((traceparent) => {
      const cause = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
      return cause === undefined ? [] : [{ context: cause }];
    });
    const attributes = { 'messaging.system': 'bullmq', 'messaging.destination.name': name };
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CONSUMER, links, attributes }, ROOT_CONTEXT);
    return this.#during(span, trace.setSpan(ROOT_CONTEXT, span), work);
  }

  async #during<Result>(span: Span, active: Context, work: Work<Result>): Promise<Result> {
    try {
      return await context.with(active, work);
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }
}

function fail(span: Span, error: unknown): void {
  span.setAttribute('error.type', codeName(toPublicError(error).code));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const callHeaders: TextMapGetter<TracedCall> = {
  get: (call, name) => call.header(name),
  keys: () => [],
};
