import { randomBytes } from 'node:crypto';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { Identity } from '../auth/authenticator.ts';
import type { CallSignal } from '../cancellation/signal.ts';
import type { Caller } from '../db/caller.ts';
import type { Queryable } from '../db/statement.ts';
import type { Protocol } from '../telemetry/call-metrics.ts';
import { traceIdOf } from '../telemetry/trace-context.ts';
import type { Codec } from './answers/response.ts';

/** Gives a `CallContext` access to the request of its server stack. */
export interface CallSource {
  readonly method: DescMethod;
  readonly protocol: Protocol;
  /** The encoding of the response. */
  readonly codec: Codec;
  readonly hasDeadline: boolean;
  /** The size of the request message as it came, unpacked. */
  readonly requestBytes: number;
  /** The encoding of the request message. */
  readonly requestCodec: Codec;
  /** The value of a request header or metadata key; `name` is in lower case. */
  header(name: string): string | undefined;
  /** Opens a signal that aborts with a ConnectError when the deadline passes or the caller disconnects. */
  openSignal(): CallSignal;
  /** Decodes the request message; throws a ConnectError for a malformed one. */
  decode(): Message;
}

const requestIdPattern = /^[\w.-]{1,128}$/;

// The first part makes a request id unique across processes, the second within this one.
const processId = randomBytes(8).toString('hex');
let requestCount = 0;

function newRequestId(): string {
  requestCount += 1;
  return `${processId}-${requestCount.toString(36)}`;
}

// How long a call without a deadline waits for a permit and for a database connection.
const defaultWaitMs = 10_000;

type AfterWrite = (isCommitted: boolean) => void | Promise<void>;

const doNothing = () => undefined;

/** One call, as interceptors and handlers see it, regardless of the protocol. */
export class CallContext implements Caller {
  readonly #source: CallSource;
  readonly method: DescMethod;
  readonly protocol: Protocol;
  readonly codec: Codec;
  #signal: CallSignal | undefined;
  #request: Message | undefined;
  #identity: Identity | undefined;
  #traceId: string | undefined;
  #staffId: Promise<number | undefined> | undefined;

  /** The caller's `x-request-id`, or a new one. The response returns it in the same header. */
  readonly requestId: string;
  /** Releases the permit to execute, if the call holds it. Streams execute without one. */
  releasePermit: () => void = doNothing;
  /** Waits for the permit again; undefined if the call gets it at once. Rejects with OVERLOADED. */
  takePermit: () => Promise<void> | undefined = doNothing;
  /** Its place among the calls in flight. */
  index = -1;
  /** The response headers, sent with results and with errors. */
  readonly responseHeaders = new Map<string, string>();
  /** The hash of its idempotency key; undefined if it has none. */
  keyId: Buffer | undefined;
  /** The open transaction in which the call's statements run. Undefined: each runs on its own. */
  transaction: Queryable | undefined;
  /**
   * Charges the caller for what the call is about to write besides one record: rows, and ids of lists that are stored
   * whole. Only mutations are charged.
   */
  chargeRows: (rows: number, listedIds?: number) => void = doNothing;
  /**
   * Why the answer refuses what was asked. Such a call has written nothing, and no idempotency key stores its answer.
   */
  refusal: string | undefined;
  /** The caller gets an answer that another call has stored for its idempotency key. */
  isReplayed = false;
  readonly #afterWrite: AfterWrite[] = [];
  /** Whether the call's transaction has committed; undefined until it ends. */
  #isCommitted: boolean | undefined;

  constructor(source: CallSource) {
    this.#source = source;
    this.method = source.method;
    this.protocol = source.protocol;
    this.codec = source.codec;
    const sent = source.header('x-request-id');
    this.requestId = sent !== undefined && requestIdPattern.test(sent) ? sent : newRequestId();
    this.responseHeaders.set('x-request-id', this.requestId);
  }

  header(name: string): string | undefined {
    return this.#source.header(name);
  }

  /** The size of the request message as it came, unpacked. */
  get requestBytes(): number {
    return this.#source.requestBytes;
  }

  /** The encoding of the request message. */
  get requestCodec(): Codec {
    return this.#source.requestCodec;
  }

  /** Aborts when the deadline passes or the caller disconnects. Opened on first use. */
  get signal(): CallSignal {
    this.#signal ??= this.#source.openSignal();
    return this.#signal;
  }

  /** How long the call waits for its turn, in milliseconds; undefined: until its deadline. */
  get maxWaitMs(): number | undefined {
    return this.#source.hasDeadline ? undefined : defaultWaitMs;
  }

  /** The request message. It is decoded on first access, so that the credential is verified first. */
  get request(): Message {
    this.#request ??= this.#source.decode();
    return this.#request;
  }

  /** The caller. Throws until the identity interceptor has run. */
  get identity(): Identity {
    if (this.#identity === undefined) throw new Error('the call has no identity yet');
    return this.#identity;
  }

  set identity(identity: Identity) {
    this.#identity = identity;
  }

  /** The token's `sub`, for the log; undefined until the token is verified. */
  get subject(): string | undefined {
    return this.#identity?.subject;
  }

  /** The token's staff id, for the log; undefined until the token is verified, or if it has none. */
  get claimedStaffId(): number | undefined {
    return this.#identity?.claimedStaffId;
  }

  /** The id of the call's trace: from this service's span, or else from the caller's `traceparent`. */
  get traceId(): string | undefined {
    this.#traceId ??= traceIdOf(this.header('traceparent'));
    return this.#traceId;
  }

  set traceId(traceId: string) {
    this.#traceId = traceId;
  }

  /**
   * Calls `then` once the call's write is committed: at once, unless a transaction is open. If the transaction failed,
   * it may or may not have committed, and `then` is called with false. Called after the transaction has ended, it
   * reports the outcome at once. Rejects as `then` does, or else `endTransaction` does.
   */
  async afterWrite(then: AfterWrite): Promise<void> {
    if (this.transaction === undefined) await then(this.#isCommitted ?? true);
    else this.#afterWrite.push(then);
  }

  /** Records the outcome of the call's transaction and runs the callbacks of `afterWrite`. Rejects as they do. */
  async endTransaction(isCommitted: boolean): Promise<void> {
    this.transaction = undefined;
    this.#isCommitted = isCommitted;
    for (const then of this.#afterWrite.splice(0)) await then(isCommitted);
  }

  /**
   * Resolves with the caller's staff id; undefined unless a staff user with that id exists
   * (spec 5). Looked up once per call.
   */
  staffId(): Promise<number | undefined> {
    this.#staffId ??= this.identity.staffId(this);
    return this.#staffId;
  }
}
