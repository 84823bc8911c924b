/** The labels by which a request is counted. */
export interface Label {
  readonly protocol: string;
  readonly procedure: string;
  readonly kind: string;
}

export type Headers = readonly (readonly [name: string, value: string])[];

interface Exchange {
  readonly service: 'slot' | 'coupon';
  readonly label: Label;
  /** The server may close the connection without an answer: the request breaks HTTP itself, or has too large a message for a stranger's. */
  readonly mayBeLost: boolean;
}

/** A request over HTTP. Its body is base64, so that it can be written as JSON. */
export interface HttpExchange extends Exchange {
  readonly over: 'http1' | 'http2';
  readonly method: string;
  readonly path: string;
  /** A `{name}` in a value stands for one of the run's `Variables`. */
  readonly headers: Headers;
  readonly body: string;
  /** The client cancels the request after so many milliseconds. */
  readonly leaveAfterMs?: number;
}

/** Bytes for a new connection. */
export interface SocketExchange extends Exchange {
  readonly over: 'socket';
  readonly port: 'grpc' | 'web';
  readonly bytes: string;
}

export type FuzzRequest = HttpExchange | SocketExchange;

/** Values that differ from run to run. */
export interface Variables {
  readonly staff: string;
  readonly guest: string;
  readonly expired: string;
  /** The latest `store-request-id` of a response. */
  storeRequest: string;
}

/** Replaces the variables in the value of a header. */
export function fill(value: string, variables: Variables): string {
  return value.replace(/\{(staff|guest|expired|storeRequest)\}/g, (place, name: string) => {
    const known = Object.entries(variables).find(([key]) => key === name);
    return typeof known?.[1] === 'string' ? known[1] : place;
  });
}

/** How a request ended, as the client saw it. */
export interface Answer {
  /** `cut`: the server reset it; `left`: the client did; `lost`: the connection ended first; `unsent`: Node's client refused to send it. */
  readonly ended: 'answered' | 'cut' | 'left' | 'lost' | 'silent' | 'unsent';
  readonly status: number;
  /** Headers and trailers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const noAnswer = (ended: Answer['ended']): Answer => ({ ended, status: 0, headers: {}, body: Buffer.alloc(0) });

/** The headers of Node, each as one text. */
export function flatten(given: NodeJS.Dict<string | string[] | number>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}

const patienceMs = 15_000;

/** Has a client leave when the request says so, or when no answer comes. Returns what ends that. */
export function leaveInTime({ leaveAfterMs }: HttpExchange, leave: (why: 'silent' | 'left') => void): () => void {
  const timers = [setTimeout(leave, patienceMs, 'silent')];
  if (leaveAfterMs !== undefined) timers.push(setTimeout(leave, leaveAfterMs, 'left'));
  return () => timers.forEach(clearTimeout);
}
