import { type Server, Socket } from 'node:net';
import { FairShare } from '../../fairness/fair-share.ts';
import { maxConnections } from './limits.ts';

/** A connection of a port. */
export interface Connection {
  socket: Socket;
  /** The first caller who has shown a credential on it; undefined: a stranger. */
  subject: string | undefined;
  /** The open requests on it that show no good credential. */
  strangersRequests: number;
  /** Counts a stranger's connection for a caller. Closes it when that caller has its share already. */
  identify(subject: string): void;
}

/** What names a connection: a TLS socket and that of an HTTP/2 session name the TCP socket below them. */
type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/**
 * The open connections of a port. A caller has its share of them. When there are too many, the oldest
 * one of a stranger makes room for the newest.
 */
export class Connections {
  readonly #open = new Map<string, Connection>();
  /** The connections of sockets that were asked for: to name one takes long. */
  readonly #known = new WeakMap<Peer, Connection>();
  /** Oldest first. */
  readonly #strangers = new Set<Connection>();
  readonly #shares = new FairShare(maxConnections);

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('secureConnection', (socket: Socket) => {
      this.of(socket).socket = socket;
    });
  }

  /** The connection of a socket; when that has closed, one that is not counted. */
  of(peer: Peer): Connection {
    const known = this.#known.get(peer);
    if (known !== undefined) return known;
    const connection = this.#open.get(nameOf(peer)) ?? closed;
    this.#known.set(peer, connection);
    return connection;
  }

  /**
   * Closes the connections that have sent nothing, such as those that browsers open ahead of need. Node
   * counts them as busy, so they would hold up a shutdown.
   */
  closeSilent(): void {
    for (const { socket } of this.#open.values()) if (socket.bytesRead === 0) socket.destroy();
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #add(socket: Socket): void {
    const name = nameOf(socket);
    const identify = (subject: string) => {
      if (connection.subject !== undefined) return;
      connection.subject = subject;
      this.#strangers.delete(connection);
      if (!this.#shares.fits(subject, 1)) socket.destroy();
      this.#shares.add(subject, 1);
    };
    const connection: Connection = { socket, subject: undefined, strangersRequests: 0, identify };
    this.#open.set(name, connection);
    this.#strangers.add(connection);
    socket.once('close', () => {
      this.#open.delete(name);
      this.#strangers.delete(connection);
      if (connection.subject !== undefined) this.#shares.release(connection.subject);
    });
    if (this.#open.size <= maxConnections) return;
    for (const oldest of this.#strangers) return void oldest.socket.destroy();
  }
}

const closed: Connection = {
  socket: new Socket(),
  subject: undefined,
  strangersRequests: 0,
  identify: () => undefined,
};

const nameOf = ({ remoteAddress, remotePort }: Peer): string => `${remoteAddress} ${remotePort}`;
