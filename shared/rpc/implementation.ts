import type {
  DescMessage,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageValidType,
} from '@bufbuild/protobuf';
import type { Logger } from 'pino';
import { commonErrors, type ErrorRow, fail } from '../errors/errors.ts';
import type { CallMetrics } from '../telemetry/call-metrics.ts';
import type { Answer } from './answers/answer.ts';
import { AnswerResponse, RpcResponse } from './answers/response.ts';
import type { CallContext } from './call-context.ts';
import type { OpenRequests } from './limits/open-requests.ts';
import { isMutation } from './procedure.ts';

/**
 * Implements one procedure. A unary handler takes the decoded, valid request and resolves with the fields of the
 * response, or with a response that others share. A streaming handler yields the fields of each message.
 */
export type Handler<Method> =
  Method extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageValidType<Input>, call: CallContext) => Promise<Answer<Output> | RpcResponse<Output>>
    : Method extends DescMethodServerStreaming<infer Input, infer Output>
      ? (request: MessageValidType<Input>, call: CallContext) => AsyncIterable<Answer<Output>>
      : never;

/** The handlers of a service by method name. */
export type Handlers<Service extends DescService> = {
  [Name in keyof Service['method']]: Handler<Service['method'][Name]>;
};

/** A handler whose message types are only known from its method's descriptor. */
type UntypedAnswer = Promise<object> | AsyncIterable<object>;
type UntypedHandler = (request: never, call: CallContext) => UntypedAnswer;

/** One procedure, ready to be mounted on a server stack. */
export interface Rpc {
  readonly method: DescMethod;
  /** The error for callers without a staff identity; undefined if the procedure needs none. */
  readonly noStaffError: ErrorRow | undefined;
  /** Resolves with the name of the lock that a call takes its turn at, if any. Undefined: the procedure has no turns. */
  readonly lockOf?: ((call: CallContext) => Promise<string | undefined>) | undefined;
  /** Runs a unary procedure. */
  invoke(request: Message, call: CallContext): Promise<RpcResponse>;
  /** Runs a streaming procedure. */
  stream(request: Message, call: CallContext): AsyncIterable<RpcResponse>;
}

/** Resolves with the name of the lock that a call takes its turn at; undefined if it needs none. */
type LockOf<Input> = (request: Input, call: CallContext) => Promise<string | undefined>;

/** The procedures whose calls take turns, because many of them may need the same lock. */
export type Locks<Service extends DescService> = {
  [Name in keyof Service['method']]?: Service['method'][Name] extends DescMethodUnary<infer Input>
    ? LockOf<MessageValidType<Input>>
    : never;
};

/** A service with its procedures. */
export interface Implementation {
  readonly service: DescService;
  readonly rpcs: readonly Rpc[];
}

export interface StaffRule<Service extends DescService> {
  readonly error: ErrorRow;
  readonly except?: readonly (keyof Service['method'])[];
}

/**
 * Binds handlers to a service once, for every server stack (design 1).
 *
 * @param staffOnly the error for callers without a staff identity, and the procedures that do not
 * require one before their body.
 * @param locks the locks that calls need, of the procedures whose calls take turns.
 */
export function implement<Service extends DescService>(
  service: Service,
  handlers: Handlers<Service>,
  staffOnly?: StaffRule<Service>,
  locks: Locks<Service> = {},
): Implementation {
  const locksByName = new Map<string, LockOf<never>>(Object.entries(locks));
  const byName = new Map<string, UntypedHandler>(Object.entries(handlers));
  const open = new Set<PropertyKey>(staffOnly?.except);
  const rpcs = service.methods.map((method): Rpc => {
    const handler = byName.get(method.localName);
    // `Handlers` and `Locks` have the types of each method's messages; the lookup by name loses them.
    const answer = (request: Message, call: CallContext) => {
      if (handler === undefined) throw fail(commonErrors.unimplemented, { params: { method: method.name } });
      return handler(request as never, call);
    };
    const lockOf = locksByName.get(method.localName);
    return {
      method,
      lockOf: lockOf && ((call) => lockOf(call.request as never, call)),
      noStaffError: open.has(method.localName) ? undefined : staffOnly?.error,
      async invoke(request, call) {
        const given = answer(request, call);
        if (!(given instanceof Promise)) throw new Error(`${method.name} answers with a stream`);
        return toResponse(method.output, await given);
      },
      async *stream(request, call) {
        const given = answer(request, call);
        if (given instanceof Promise) throw new Error(`${method.name} answers with one message`);
        for await (const message of given) yield toResponse(method.output, message);
      },
    };
  });
  return { service, rpcs };
}

/** The fields match the schema, which `Handlers` has checked. */
function toResponse(schema: DescMessage, answer: object): RpcResponse {
  return answer instanceof RpcResponse ? answer : new AnswerResponse(schema, answer);
}

/** Executes a call. Resolves with its result, or rejects. */
export type Execute<Result> = (call: CallContext) => Promise<Result>;

/** Wraps the execution of a procedure's calls. It runs once per unary procedure at startup, and once per stream. */
export type Interceptor = <Result>(rpc: Rpc, next: Execute<Result>) => Execute<Result>;

/** All interceptors, in the order of docs/architecture.md: the first one outermost. */
export interface Interceptors {
  /** Those of every call. */
  readonly calls: readonly Interceptor[];
  /** Those of mutations, inside of the others. The answer is not encoded yet. */
  readonly mutations: readonly ((rpc: Rpc, next: Execute<RpcResponse>) => Execute<RpcResponse>)[];
}

/** Returns how a unary procedure's calls are executed: they resolve with the response, encoded as the call needs it. */
export function executeUnary({ calls, mutations }: Interceptors, rpc: Rpc): Execute<Buffer> {
  const procedure: Execute<RpcResponse> = (call) => rpc.invoke(call.request, call);
  const answer = isMutation(rpc.method) ? intercept(mutations, rpc, procedure) : procedure;
  return intercept<Buffer>(calls, rpc, async (call) => (await answer(call)).encode(call));
}

/** Returns how a streaming procedure's calls are executed. `send` sends all messages. */
export function executeStream({ calls }: Interceptors, rpc: Rpc, send: Execute<void>): Execute<void> {
  return intercept<void>(calls, rpc, send);
}

function intercept<Result>(
  interceptors: readonly ((rpc: Rpc, next: Execute<Result>) => Execute<Result>)[],
  rpc: Rpc,
  execute: Execute<Result>,
): Execute<Result> {
  return interceptors.reduceRight((next, interceptor) => interceptor(rpc, next), execute);
}

/** A running server of one port. */
export interface RunningServer {
  readonly port: number;
  /** Tells load balancers to send new calls elsewhere. Calls still work. */
  drain(): void;
  /** Stops accepting calls. Resolves once those in flight have ended. */
  stop(): Promise<void>;
  /** Closes every connection at once. */
  kill(): void;
}

/** The services of both ports, and the interceptors and limits for their calls. */
export interface ServedCalls {
  readonly implementations: readonly Implementation[];
  readonly interceptors: Interceptors;
  readonly requests: OpenRequests;
  readonly logger: Logger;
  /** Undefined without a metrics port. */
  readonly calls: CallMetrics | undefined;
}
