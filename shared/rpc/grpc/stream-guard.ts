import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import { http2ServersOf, onChunk } from '../../internals/grpc-js.ts';
import { maxConnections } from '../limits/limits.ts';
import { MemoryReservation, RequestMemory } from '../limits/request-memory.ts';
import { RequestStream, SlowClientGuard } from '../limits/slow-clients.ts';
import { StreamQuota } from '../limits/stream-quota.ts';

// gRPC clients report it as RESOURCE_EXHAUSTED. They would retry a REFUSED_STREAM at once.
const resetCode = constants.NGHTTP2_ENHANCE_YOUR_CALM;
const frameHeaderBytes = 5;

/**
 * Bounds what clients make a gRPC server hold before their calls begin and after they have ended, where
 * no interceptor sees them. The server must be bound. Throws a `ConfigError` when grpc-js differs from
 * the version that this relies on.
 *
 * @param streamingPaths the paths of the procedures that answer with a stream.
 */
export function guardStreams(server: Server, streamingPaths: ReadonlySet<string>): void {
  const memory = new RequestMemory();
  // Health and reflection need no credential and stay open for as long as the client likes, so that
  // their requests have to be small.
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
        const isCompressed = (headers['grpc-encoding'] ?? 'identity') !== 'identity';
        const budget = path.startsWith('/grpc.') ? noMemory : memory;
        const reservation = new MemoryReservation(budget, isCompressed, rawHeaders);
        const requestStream = new GrpcRequestStream(stream, path, reservation);
        const end = quota.begin(stream.session, isStreaming ? 'streams' : 'calls');
        // A streaming call may go on for days, but holds its request only until it is decoded.
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

class GrpcRequestStream extends RequestStream {
  readonly #stream: ServerHttp2Stream;
  readonly #reservation: MemoryReservation;
  /** Whether the procedure takes exactly one message. */
  readonly #isSingle: boolean;
  #header: Buffer | undefined;
  #size = 0;

  constructor(stream: ServerHttp2Stream, path: string, reservation: MemoryReservation) {
    super();
    this.#stream = stream;
    this.#reservation = reservation;
    this.#isSingle = !path.startsWith('/grpc.reflection.');
    if (!reservation.reserve(0)) this.reset();
    // Before grpc-js, which inflates every message of a chunk at once without regard for the others.
    onChunk(stream, (chunk) => {
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
    this.#stream.close(resetCode);
  }

  release(): void {
    this.#reservation.release();
  }

  /** False when the request is larger than its one message, or than the memory that is left. */
  #reserve(chunk: Buffer): boolean {
    if (this.#isSingle) {
      if (this.#header === undefined || this.#header.byteLength < frameHeaderBytes) {
        this.#header = this.#header === undefined ? chunk : Buffer.concat([this.#header, chunk]);
      }
      if (this.#header.byteLength >= frameHeaderBytes && this.#size > frameHeaderBytes + this.#header.readUInt32BE(1)) {
        return false;
      }
    }
    return this.#reservation.reserve(this.#size);
  }
}
