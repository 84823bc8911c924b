import { constants, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import {
  attach,
  attachedTo,
  blameCaller,
  delayConnections,
  http2ServersOf,
  onChunk,
  onRequest,
} from '../../internals/grpc-js.ts';
import type { ServedCalls } from '../implementation.ts';
import { type Connection, Connections } from '../limits/connections.ts';
import { envelopeBytes, envelopeHeadBytes, grpcTimeoutMs, notOneMessage } from '../limits/grpc-wire.ts';
import {
  cautionDelayMs,
  cautionMs,
  leastPatienceMs,
  maxOpenServiceRequestBytes,
  rapidResetMs,
} from '../limits/limits.ts';
import { OpenRequest, type OpenRequests } from '../limits/open-requests.ts';
import { createRefusalLog, prepareHeaders, refusalOf, refuse, trailersOnly } from './refusals.ts';

// gRPC clients report it as RESOURCE_EXHAUSTED. They would retry a REFUSED_STREAM at once.
const tooMuch = constants.NGHTTP2_ENHANCE_YOUR_CALM;
// gRPC clients report it as UNAVAILABLE, and turn to another server.
const stopping = constants.NGHTTP2_REFUSED_STREAM;
const lingerMs = 1_000;

/** The connections of a gRPC server, and its streams without a deadline. */
export interface GrpcTraffic {
  readonly connections: readonly Connections[];
  /** Ends the streams of health and reflection, which may stay open for as long as their clients like. */
  endOpenServices(): void;
}

/**
 * Guards a gRPC server where no interceptor does, before its calls begin and after they have ended: counts its requests
 * and connections, caps deadlines and refuses requests that are no calls. The server must be bound. Throws
 * a `ConfigError` when grpc-js differs from the version that this relies on.
 *
 * @param streamingPaths the paths of the procedures that answer with a stream.
 */
export function guardRequests(server: Server, served: ServedCalls, streamingPaths: ReadonlySet<string>): GrpcTraffic {
  const { requests } = served;
  const logRefusal = createRefusalLog(served);
  const openServices = new Set<ServerHttp2Stream>();
  let isStopping = false;
  const connections = http2ServersOf(server).map((http2Server) => {
    let cautiousSinceMs = -Infinity;
    // A new connection costs more than what was reset on it.
    delayConnections(http2Server, () => (performance.now() - cautiousSinceMs < cautionMs ? cautionDelayMs : 0));
    const ofServer = new Connections(http2Server);
    onRequest(http2Server, (stream, headers, rawHeaders, handle) => {
      const { session } = stream;
      // The stream has ended before it was told of. While a connection waits, its requests are not counted one by one.
      if (session === undefined) cautiousSinceMs = performance.now();
      if (session === undefined || session.destroyed) return () => undefined;
      const connection = ofServer.of(session.socket);
      if (connection === undefined || connection.isEnding) return () => endSession(session, connection);
      let request: GrpcRequest | undefined;
      stream.on('close', () => {
        const isReset = request?.isReset(headers['grpc-timeout']) ?? true;
        if (isReset && !session.destroyed && !session.closed && connection.countReset()) {
          cautiousSinceMs = performance.now();
          closeSession(session, connection);
        }
        if (request === undefined) return;
        request.endPart();
        openServices.delete(stream);
        logRefusal(headers, stream.sentHeaders);
      });
      const begin = () => {
        if (stream.closed || session.destroyed) return;
        prepareHeaders(headers, rawHeaders);
        handle(stream, headers);
        if (stream.closed) return;
        request = new GrpcRequest(requests, connection, session, stream, headers, rawHeaders);
        // A streaming call may go on for days, but holds its request only until it is decoded.
        if (streamingPaths.has(headers[':path'] ?? '')) stream.once('end', () => request && requests.release(request));
        if (request.isOfOpenService) openServices.add(stream);
        requests.begin(request, headers.authorization);
        request.grow(0);
        const refusal = refusalOf(headers);
        if (refusal !== undefined) refuse(stream, refusal);
        if (request.isOfOpenService && isStopping) stream.close(stopping);
      };
      // A request of a doubtful connection begins only after all pending input is read, in case that resets it.
      const isCalm = connection.subject !== undefined && connection.resets === 0;
      // Node itself ends the answer to HEAD, whose stream would be closed by then.
      return (isCalm || stream.writableEnded) && !stream.closed ? void begin() : begin;
    });
    return ofServer;
  });
  return {
    connections,
    endOpenServices() {
      isStopping = true;
      for (const stream of openServices) stream.close(stopping);
    },
  };
}

/**
 * Closes a connection once Node has read all that came with the stream. Some versions of Node abort the process when a
 * `stream` listener closes it at once (nodejs/node#64850).
 */
function endSession(session: Http2Session, connection?: Connection): void {
  if (connection !== undefined) connection.isEnding = true;
  setImmediate(() => session.destroy());
}

/** Ends a connection for new requests, and closes it when the others have ended, even if the client does not. */
function closeSession(session: Http2Session, { socket }: Connection): void {
  session.close();
  socket.once('finish', () => setTimeout(() => socket.destroy(), lingerMs).unref());
}

/** Counts the request of a unary call until `endPart`, when its work has ended, even if the client resets it. */
export function holdRequest(call: object): GrpcRequest | undefined {
  const request = attachedTo(call);
  // Its stream may have ended before.
  if (!(request instanceof GrpcRequest) || request.parts === 0) return undefined;
  request.parts += 1;
  return request;
}

class GrpcRequest extends OpenRequest {
  /** Whether it asks for health or reflection, which need no credential. */
  readonly isOfOpenService: boolean;
  readonly #session: Http2Session;
  readonly #stream: ServerHttp2Stream;
  /** Whether the procedure takes exactly one message. */
  readonly #isSingle: boolean;
  readonly #requests: OpenRequests;
  /** How many of its stream and its work have not ended. */
  parts = 1;
  readonly #startedAtMs = performance.now();
  #isCut = false;
  #frameHeader = Buffer.alloc(0);
  #size = 0;

  constructor(
    requests: OpenRequests,
    connection: Connection,
    session: Http2Session,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ) {
    const isCompressed = (headers['grpc-encoding'] ?? 'identity') !== 'identity';
    super(requests, connection, rawHeaders, isCompressed);
    const path = headers[':path'] ?? '';
    this.#requests = requests;
    attach(stream, this);
    this.isOfOpenService = path.startsWith('/grpc.');
    this.#isSingle = !path.startsWith('/grpc.reflection.');
    this.#session = session;
    this.#stream = stream;
    if (isCompressed || this.isOfOpenService) blameCaller(stream);
    // grpc-js would inflate all messages of a chunk at once.
    onChunk(stream, (chunk) => {
      if (this.#frameHeader.byteLength < envelopeHeadBytes) {
        this.#frameHeader = Buffer.concat([this.#frameHeader, chunk.subarray(0, envelopeHeadBytes)]);
      }
      this.grow(chunk.byteLength);
    });
  }

  get isArriving(): boolean {
    return (this.#isSingle || this.#stream.writableEnded) && !this.#stream.readableEnded;
  }

  get unread(): number {
    return this.#stream.writableLength;
  }

  /** Whether its client reset it at once, rather than near the end of its timeout. */
  isReset(timeout: IncomingHttpHeaders[string]): boolean {
    const { aborted, rstCode } = this.#stream;
    if (this.#isCut || !(aborted || rstCode !== constants.NGHTTP2_NO_ERROR)) return false;
    const timeoutMs = timeout === undefined ? Number.POSITIVE_INFINITY : grpcTimeoutMs(String(timeout));
    const withinMs = Math.min(rapidResetMs, Math.max(timeoutMs / 2, leastPatienceMs));
    return performance.now() - this.#startedAtMs < withinMs;
  }

  reset(): void {
    this.#isCut = true;
    this.#stream.close(tooMuch);
  }

  disconnect(): void {
    endSession(this.#session, this.connection);
  }

  endPart(): void {
    this.parts -= 1;
    if (this.parts === 0) this.#requests.end(this);
  }

  /** Refuses the request when it has grown beyond its one message, and resets it beyond the memory for it. */
  grow(bytes: number): void {
    this.#size += bytes;
    const isTooLarge = this.isOfOpenService && this.memoryFor(this.#size) > maxOpenServiceRequestBytes;
    const isFollowed = this.#isSingle && this.#size > envelopeBytes(this.#frameHeader);
    if (isFollowed) refuse(this.#stream, trailersOnly(notOneMessage()));
    else if (isTooLarge || !this.reserve(this.#size)) this.reset();
  }
}
