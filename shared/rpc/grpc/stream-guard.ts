import {
  constants,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import { maxConnections } from '../limits/limits.ts';
import { MemoryReservation, RequestMemory } from '../limits/request-memory.ts';
import { RequestStream, SlowClientGuard } from '../limits/slow-clients.ts';
import { StreamQuota } from '../limits/stream-quota.ts';

// Becomes RESOURCE_EXHAUSTED in any gRPC client. REFUSED_STREAM would be tried again at once.
const tooMuch = constants.NGHTTP2_ENHANCE_YOUR_CALM;
const frameHeadBytes = 5;

/**
 * Bounds what the callers of a gRPC server can make it hold before their calls begin and after they
 * have ended, where no interceptor sees them. grpc-js has no options for it. Takes a server that is bound.
 *
 * @param streamingPaths of the procedures that answer for long
 */
export function guardStreams(server: Server, streamingPaths: ReadonlySet<string>): void {
  const memory = new RequestMemory();
  // Health and reflection are open to strangers, for as long as they like: their requests have to be small.
  const noMemory = new RequestMemory(0);
  const slowClients = new SlowClientGuard();
  for (const http2Server of http2ServersOf(server)) {
    const quota = new StreamQuota(http2Server);
    http2Server.once('close', () => slowClients.close());
    http2Server.maxConnections = maxConnections;
    http2Server.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
        if (stream.destroyed || stream.closed) return;
        const path = headers[':path'] ?? '';
        const isStreaming = streamingPaths.has(path);
        const inflates = (headers['grpc-encoding'] ?? 'identity') !== 'identity';
        const reservation = new MemoryReservation(path.startsWith('/grpc.') ? noMemory : memory, inflates, rawHeaders);
        const requestStream = new GrpcRequestStream(stream, path, reservation);
        const end = quota.begin(stream.session, isStreaming ? 'streams' : 'calls');
        // What a stream was asked with is gone when its answers begin, which may go on for days.
        if (isStreaming) stream.once('end', () => requestStream.release());
        stream.once('close', () => {
          slowClients.delete(requestStream);
          requestStream.release();
          end();
        });
        slowClients.add(requestStream);
      },
    );
  }
}

/**
 * The servers that a bound one listens with. grpc-js keeps them to itself; that they are where they were
 * is worth a look at each start.
 */
export function http2ServersOf(server: Server): Iterable<Http2Server | Http2SecureServer> {
  const servers: unknown = Reflect.get(server, 'http2Servers');
  if (!(servers instanceof Map) || servers.size === 0) throw new Error('grpc-js has its HTTP/2 servers elsewhere');
  return servers.keys();
}

class GrpcRequestStream extends RequestStream {
  readonly #stream: ServerHttp2Stream;
  readonly #reservation: MemoryReservation;
  /** Of a procedure that takes one message. */
  readonly #isSingle: boolean;
  #head: Buffer | undefined;
  #size = 0;

  constructor(stream: ServerHttp2Stream, path: string, reservation: MemoryReservation) {
    super();
    this.#stream = stream;
    this.#reservation = reservation;
    this.#isSingle = !path.startsWith('/grpc.reflection.');
    if (!reservation.reserve(0)) this.reset();
    // Before grpc-js, which inflates each message of a chunk at once, as if it were the only one.
    stream.prependListener('data', (chunk: Buffer) => {
      this.#size += chunk.byteLength;
      if (!this.#reserve(chunk)) this.reset();
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

  release(): void {
    this.#reservation.release();
  }

  #reserve(chunk: Buffer): boolean {
    if (this.#isSingle) {
      if (this.#head === undefined || this.#head.byteLength < frameHeadBytes) {
        this.#head = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
      }
      if (this.#head.byteLength >= frameHeadBytes && this.#size > frameHeadBytes + this.#head.readUInt32BE(1)) {
        return false;
      }
    }
    return this.#reservation.reserve(this.#size);
  }
}
