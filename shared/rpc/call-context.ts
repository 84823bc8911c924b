import { randomBytes } from 'node:crypto';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { Identity } from '../auth/identity.ts';
import type { CallSignal } from '../cancellation/signal.ts';
import type { BatchQueryable } from '../db/transaction.ts';
import type { Caller } from '../fairness/caller.ts';
import type { Protocol } from '../telemetry/call-metrics.ts';
import { traceIdOf } from '../telemetry/trace-context.ts';
import type { Codec } from './protobuf/encoding.ts';

/** How a `CallContext` reads the request of its server stack. */
export interface CallSource {
  readonly method: DescMethod;
  readonly protocol: Protocol;
  /** The form in which the response is encoded. */
  readonly codec: Codec;
  readonly hasDeadline: boolean;
  /** The value of a request header or metadata key; `name` is in lower case. */
  header(name: string): string | undefined;
  /** Opens a signal that aborts with a ConnectError when the deadline passes or the caller disconnects. */
  openSignal(): CallSignal;
  /** Decodes the request message; throws a ConnectError for a malformed one. */
  decode(): Message;
}

/** The places on which calls execute, of which each has one at most. */
export interface Places {
  /** Waits until the call has a place; undefined when it has one at once. Rejects with OVERLOADED. */
  take(call: CallContext): Promise<void> | undefined;
  /** Gives back the place of a call, if it has one. */
  release(call: CallContext): void;
}

const requestIdPattern = /^[\w.-]{1,128}$/;

// A request id is unique across processes by its first part, and within this one by its second.
const processId = randomBytes(8).toString('hex');
let requestCount = 0;

function newRequestId(): string {
  requestCount += 1;
  return `${processId}-${requestCount.toString(36)}`;
}

// How long a call without a deadline waits for a place, and for a connection to the database.
const defaultWaitMs = 10_000;

/** One call, as interceptors and handlers see it: the same for every protocol. */
export class CallContext implements Caller {
  readonly #source: CallSource;
  #signal: CallSignal | undefined;
  #request: Message | undefined;
  #identity: Identity | undefined;
  #traceId: string | undefined;
  #staffId: Promise<number | undefined> | undefined;

  /** The caller's `x-request-id`, or a new one. The response returns it in the same header. */
  readonly requestId: string;
  /** The places of unary calls; undefined before the admission interceptor has run. */
  places: Places | undefined;
  /** Where the call stands in the list of calls in flight. */
  index = -1;
  /** Whether the call has one of them. */
  hasPlace = false;
  /** The headers of the response, sent with a result and with an error. */
  readonly responseHeaders = new Map<string, string>();
  /** The call's `idempotency-key`; undefined for a query, without one, and before the validation interceptor has run. */
  idempotencyKey: string | undefined;
  /** The open transaction in which the call's statements run; undefined: each runs for itself. */
  transaction: BatchQueryable | undefined;
  readonly #afterWrite: ((isCommitted: boolean) => void)[] = [];
  /** How the call's transaction has ended. */
  #isCommitted: boolean | undefined;

  constructor(source: CallSource) {
    this.#source = source;
    const sent = source.header('x-request-id');
    this.requestId = sent !== undefined && requestIdPattern.test(sent) ? sent : newRequestId();
    this.responseHeaders.set('x-request-id', this.requestId);
  }

  get method(): DescMethod {
    return this.#source.method;
  }

  get protocol(): Protocol {
    return this.#source.protocol;
  }

  get codec(): Codec {
    return this.#source.codec;
  }

  header(name: string): string | undefined {
    return this.#source.header(name);
  }

  /** Aborts when the deadline passes or the caller disconnects. Opened on first use. */
  get signal(): CallSignal {
    this.#signal ??= this.#source.openSignal();
    return this.#signal;
  }

  /** How long the call waits for its turn; undefined: until its deadline. */
  get maxWaitMs(): number | undefined {
    return this.#source.hasDeadline ? undefined : defaultWaitMs;
  }

  /** The request message. Decoded on first use, so that the credential is verified before. */
  get request(): Message {
    this.#request ??= this.#source.decode();
    return this.#request;
  }

  /** The caller. Throws before the identity interceptor has run. */
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

  /** The token's staff id, for the log; undefined without one, and until the token is verified. */
  get claimedStaffId(): number | undefined {
    return this.#identity?.claimedStaffId;
  }

  /** The id of the call's trace: of this service's own span, else of the caller's `traceparent`. */
  get traceId(): string | undefined {
    this.#traceId ??= traceIdOf(this.header('traceparent'));
    return this.#traceId;
  }

  set traceId(traceId: string) {
    this.#traceId = traceId;
  }

  /**
   * Waits for something that may take long, such as an event, and gives the call's place to others
   * meanwhile. Rejects as `wait` does, and with OVERLOADED when the call gets no place again in time.
   */
  async withoutPlace(wait: () => Promise<void>): Promise<void> {
    this.leavePlace();
    await wait();
    await this.takePlace();
  }

  leavePlace(): void {
    this.places?.release(this);
  }

  async takePlace(): Promise<void> {
    await this.places?.take(this);
  }

  /**
   * Calls `then` when the write that the call has made is committed: at once, unless it has an open transaction. When that
   * failed, nobody may know whether it is committed: `then` is called with false. So it is for an answer that comes after the end.
   */
  afterWrite(then: (isCommitted: boolean) => void): void {
    if (this.transaction === undefined) then(this.#isCommitted ?? true);
    else this.#afterWrite.push(then);
  }

  /** Ends the call's transaction. */
  endTransaction(isCommitted: boolean): void {
    this.transaction = undefined;
    this.#isCommitted = isCommitted;
    for (const then of this.#afterWrite.splice(0)) then(isCommitted);
  }

  /** The caller's staff id; undefined unless a staff user with that id exists (spec 5). A call looks it up once. */
  staffId(): Promise<number | undefined> {
    this.#staffId ??= this.identity.staffId(this);
    return this.#staffId;
  }
}
