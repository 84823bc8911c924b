import { randomBytes } from 'node:crypto';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import type { Identity } from '../auth/identity.ts';
import type { CallSignal } from '../cancellation/signal.ts';
import type { Protocol } from '../telemetry/call-metrics.ts';
import { traceIdOf } from '../telemetry/trace-context.ts';

/** What a server stack gives to make a `Call` of its own kind of request. */
export interface CallSource {
  readonly method: DescMethod;
  readonly protocol: Protocol;
  /** The value of a request header or metadata key, in lower case. */
  header(name: string): string | undefined;
  /** Aborts with a ConnectError when the deadline passes or the caller goes away. */
  openSignal(): CallSignal;
  /** Reads the request message; throws a ConnectError for bytes that are none. */
  decode(): Message;
}

const requestIdForm = /^[\w.-]{1,128}$/;

// Unique among processes by the first part, and in this one by the second.
const processId = randomBytes(8).toString('hex');
let calls = 0;

function newRequestId(): string {
  calls += 1;
  return `${processId}-${calls.toString(36)}`;
}

/** One call, the same to interceptors and handlers whichever protocol brought it. */
export class CallContext {
  readonly #source: CallSource;
  #signal: CallSignal | undefined;
  #request: Message | undefined;
  #identity: Identity | undefined;
  #traceId: string | undefined;

  /** The caller's `x-request-id`, or a new one; it comes back as a header. */
  readonly requestId: string;
  /** Headers of the answer, sent with a result and with an error. */
  readonly responseHeaders = new Map<string, string>();

  constructor(source: CallSource) {
    this.#source = source;
    const given = source.header('x-request-id');
    this.requestId = given !== undefined && requestIdForm.test(given) ? given : newRequestId();
    this.responseHeaders.set('x-request-id', this.requestId);
  }

  get method(): DescMethod {
    return this.#source.method;
  }

  get protocol(): Protocol {
    return this.#source.protocol;
  }

  header(name: string): string | undefined {
    return this.#source.header(name);
  }

  /** Aborts when the deadline passes or the caller goes away; made on first use. */
  get signal(): CallSignal {
    this.#signal ??= this.#source.openSignal();
    return this.#signal;
  }

  /** The request message, decoded on first use, so that a credential is judged before bytes. */
  get request(): Message {
    this.#request ??= this.#source.decode();
    return this.#request;
  }

  /** Who calls. Throws before the identity interceptor has run. */
  get identity(): Identity {
    if (this.#identity === undefined) throw new Error('the call has no identity yet');
    return this.#identity;
  }

  set identity(identity: Identity) {
    this.#identity = identity;
  }

  /** The token's `sub`, for the log; undefined before the check. */
  get subject(): string | undefined {
    return this.#identity?.subject;
  }

  /** The staff id that the token claims, for the log; undefined without one or before the check. */
  get claimedStaffId(): number | undefined {
    return this.#identity?.claimedStaffId;
  }

  /** The trace that the call is part of: this service's own, else the one that the caller named. */
  get traceId(): string | undefined {
    this.#traceId ??= traceIdOf(this.header('traceparent'));
    return this.#traceId;
  }

  set traceId(traceId: string) {
    this.#traceId = traceId;
  }

  /** The caller's staff id, undefined unless such a staff user exists (spec 5). */
  staffId(): number | undefined | Promise<number | undefined> {
    return this.identity.staffId(() => this.signal);
  }
}
