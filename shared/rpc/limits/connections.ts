import type { Server, Socket } from 'node:net';
import { FairShare } from '../../fairness/fair-share.ts';
import {
  maxConnections,
  maxHeaderBytes,
  maxResets,
  maxUnauthenticatedResets,
  maxUnauthenticatedSentBytes,
  resetsPeriodMs,
} from './limits.ts';

const sweepMs = 250;

/** A connection of a port. */
export interface Connection {
  /** The socket, over TLS the one that decrypts. */
  socket: Socket;
  /** The first caller who has shown a valid credential on it; undefined: none has yet. */
  subject: string | undefined;
  /** The open requests on it without a valid credential. */
  readonly unauthenticatedRequests: Set<unknown>;
  /** Counts an unauthenticated connection for a caller. Closes it if that caller has its share already. */
  identify(subject: string): void;
  /** The requests that were reset at once and are not forgotten, as of the last one; 0: there never were any. */
  resets: number;
  /** Whether it is about to be closed. */
  isEnding: boolean;
  /** Counts a request that was reset at once. Returns whether there were too many lately. */
  countReset(): boolean;
}

/** A TCP socket, or the socket of a TLS connection or HTTP/2 session, which has the same address. */
type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/**
 * The open connections of a port. A caller has its share of them. When there are too many, or unauthenticated clients
 * have sent too much, the oldest unauthenticated one is closed.
 */
export class Connections {
  readonly #open = new Map<string, Connection>();
  /** Connections by socket, because reading the address of an HTTP/2 session's socket is slow. */
  readonly #known = new WeakMap<Peer, Connection>();
  /** Oldest first. */
  readonly #unauthenticated = new Set<Connection>();
  readonly #shares = new FairShare(maxConnections);

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('secureConnection', (socket: Socket) => {
      const connection = this.of(socket);
      if (connection !== undefined) connection.socket = socket;
    });
    const sweep = setInterval(() => this.#closeOverfull(), sweepMs).unref();
    server.once('close', () => clearInterval(sweep));
  }

  /** The connection of a socket; undefined if it was closed before. */
  of(peer: Peer): Connection | undefined {
    const connection = this.#known.get(peer) ?? this.#open.get(nameOf(peer));
    if (connection !== undefined) this.#known.set(peer, connection);
    return connection;
  }

  /**
   * Closes the connections that have sent nothing, such as those that browsers open ahead of need. Node counts them as
   * busy, so they would delay a shutdown.
   */
  closeSilent(): void {
    for (const { socket } of this.#open.values()) if (socket.bytesRead === 0) socket.destroy();
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  /** Closes the unauthenticated connections beside whose newer ones there is no room for what they have sent. */
  #closeOverfull(): void {
    let left = maxUnauthenticatedSentBytes;
    for (const { socket } of [...this.#unauthenticated].toReversed()) {
      left -= Math.min(socket.bytesRead, maxHeaderBytes);
      if (left < 0 && socket.bytesRead > 0) socket.destroy();
    }
  }

  #add(socket: Socket): void {
    const name = nameOf(socket);
    const identify = (subject: string) => {
      if (connection.subject !== undefined) return;
      connection.subject = subject;
      this.#unauthenticated.delete(connection);
      if (!this.#shares.fits(subject, 1)) socket.destroy();
      this.#shares.add(subject, 1);
    };
    let resetAtMs = 0;
    const countReset = () => {
      const max = connection.subject === undefined ? maxUnauthenticatedResets : maxResets;
      const nowMs = performance.now();
      const forgotten = ((nowMs - resetAtMs) * max) / resetsPeriodMs;
      connection.resets = Math.max(connection.resets - forgotten, 0) + 1;
      resetAtMs = nowMs;
      return connection.resets > max;
    };
    const none = { subject: undefined, unauthenticatedRequests: new Set(), resets: 0, isEnding: false };
    const connection: Connection = { socket, ...none, identify, countReset };
    this.#open.set(name, connection);
    this.#unauthenticated.add(connection);
    socket.once('close', () => {
      this.#open.delete(name);
      this.#unauthenticated.delete(connection);
      if (connection.subject !== undefined) this.#shares.release(connection.subject);
    });
    if (this.#open.size <= maxConnections) return;
    for (const oldest of this.#unauthenticated) return void oldest.socket.destroy();
  }
}

const nameOf = ({ remoteAddress, remotePort }: Peer): string => `${remoteAddress} ${remotePort}`;
