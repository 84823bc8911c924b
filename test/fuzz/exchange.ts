/** What a request is counted as. */
export interface Label {
  readonly protocol: string;
  readonly procedure: string;
  readonly kind: string;
}

export type Headers = readonly (readonly [name: string, value: string])[];

interface Exchange {
  readonly service: 'slot' | 'coupon';
  readonly label: Label;
  /** The server may end the connection without an answer: the request breaks HTTP itself. */
  readonly mayBeLost: boolean;
}

/** One request over HTTP; bodies are base64, so that it can be kept as JSON. */
export interface HttpExchange extends Exchange {
  readonly over: 'http1' | 'http2';
  readonly method: string;
  readonly path: string;
  /** A `{name}` in a value stands for one of the run's `Variables`. */
  readonly headers: Headers;
  readonly body: string;
  /** The caller leaves after so many milliseconds. */
  readonly leaveAfterMs?: number;
}

/** Bytes on a connection of their own. */
export interface SocketExchange extends Exchange {
  readonly over: 'socket';
  readonly port: 'grpc' | 'web';
  readonly bytes: string;
}

export type FuzzRequest = HttpExchange | SocketExchange;

/** What differs from run to run. */
export interface Variables {
  readonly staff: string;
  readonly guest: string;
  readonly expired: string;
  /** The latest `store-request-id` of an answer. */
  storeRequest: string;
}

/** Fills the places of a header's value. */
export function fill(value: string, variables: Variables): string {
  return value.replace(/\{(staff|guest|expired|storeRequest)\}/g, (place, name: string) => {
    const known = Object.entries(variables).find(([key]) => key === name);
    return typeof known?.[1] === 'string' ? known[1] : place;
  });
}

/** How a request ended, as far as the caller saw. */
export interface Answer {
  /** `cut`: the server reset it; `left`: the caller did; `lost`: the connection ended first; `unsent`: Node's client refuses to send it. */
  readonly ended: 'answered' | 'cut' | 'left' | 'lost' | 'silent' | 'unsent';
  readonly status: number;
  /** Headers and trailers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const noAnswer = (ended: Answer['ended']): Answer => ({ ended, status: 0, headers: {}, body: Buffer.alloc(0) });

/** The header values of Node's form. */
export function flatten(given: NodeJS.Dict<string | string[] | number>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}
