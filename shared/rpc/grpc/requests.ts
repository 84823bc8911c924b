import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import { changeTimeout, http2ServersOf, onChunk } from '../../internals/grpc-js.ts';
import { Connections } from '../limits/connections.ts';
import { capGrpcTimeout } from '../limits/grpc-timeout.ts';
import { smallRequestBytes } from '../limits/limits.ts';
import { OpenRequest, type OpenRequests } from '../limits/open-requests.ts';

// gRPC clients report it as RESOURCE_EXHAUSTED. They would retry a REFUSED_STREAM at once.
const tooMuch = constants.NGHTTP2_ENHANCE_YOUR_CALM;
// gRPC clients report it as UNAVAILABLE, and turn to another server.
const stopping = constants.NGHTTP2_REFUSED_STREAM;
const frameHeaderBytes = 5;

/** What travels over the gRPC port. */
export interface GrpcTraffic {
  readonly connections: readonly Connections[];
  /** Ends the streams of health and reflection, which may stay open for as long as their clients like. */
  endOpenServices(): void;
}

/**
 * Counts the requests and connections of a gRPC server for their callers, before its calls begin and
 * after they have ended, where no interceptor sees them, and caps their deadlines. The server must be bound. Throws a
 * `ConfigError` when grpc-js differs from the version that this relies on.
 *
 * @param streamingPaths the paths of the procedures that answer with a stream.
 */
export function countRequests(
  server: Server,
  requests: OpenRequests,
  streamingPaths: ReadonlySet<string>,
): GrpcTraffic {
  const openServices = new Set<ServerHttp2Stream>();
  const connections = http2ServersOf(server).map((http2Server) => {
    changeTimeout(http2Server, capGrpcTimeout);
    const ofServer = new Connections(http2Server);
    http2Server.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
        if (stream.destroyed || stream.closed || stream.session === undefined) return;
        const path = headers[':path'] ?? '';
        const request = new GrpcRequest(requests, stream, headers, rawHeaders);
        // A streaming call may go on for days, but holds its request only until it is decoded.
        if (streamingPaths.has(path)) stream.once('end', () => requests.release(request));
        if (request.isOfOpenService) openServices.add(stream);
        stream.once('close', () => {
          requests.end(request);
          openServices.delete(stream);
        });
        requests.begin(request, headers.authorization, ofServer.of(stream.session.socket));
        request.grow(0);
      },
    );
    return ofServer;
  });
  return {
    connections,
    endOpenServices() {
      for (const stream of openServices) stream.close(stopping);
    },
  };
}

class GrpcRequest extends OpenRequest {
  /** Whether it asks for health or reflection, which need no credential. */
  readonly isOfOpenService: boolean;
  readonly #stream: ServerHttp2Stream;
  /** Whether the procedure takes exactly one message. */
  readonly #isSingle: boolean;
  #frameHeader = Buffer.alloc(0);
  #size = 0;

  constructor(
    requests: OpenRequests,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ) {
    super(requests, rawHeaders, (headers['grpc-encoding'] ?? 'identity') !== 'identity');
    const path = headers[':path'] ?? '';
    this.isOfOpenService = path.startsWith('/grpc.');
    this.#isSingle = !path.startsWith('/grpc.reflection.');
    this.#stream = stream;
    // Before grpc-js, which inflates every message of a chunk at once without regard for the others.
    onChunk(stream, (chunk) => {
      if (this.#frameHeader.byteLength < frameHeaderBytes) {
        this.#frameHeader = Buffer.concat([this.#frameHeader, chunk.subarray(0, frameHeaderBytes)]);
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

  reset(): void {
    this.#stream.close(tooMuch);
  }

  disconnect(): void {
    this.#stream.session?.destroy();
  }

  /** Resets the request when it has grown beyond its one message, or beyond the memory for it. */
  grow(bytes: number): void {
    this.#size += bytes;
    const fits = this.isOfOpenService ? this.memoryFor(this.#size) <= smallRequestBytes : this.reserve(this.#size);
    if (!fits || this.#hasSecondMessage()) this.reset();
  }

  #hasSecondMessage(): boolean {
    if (!this.#isSingle || this.#frameHeader.byteLength < frameHeaderBytes) return false;
    return this.#size > frameHeaderBytes + this.#frameHeader.readUInt32BE(1);
  }
}
