import type { Server, Socket } from 'node:net';

/** The open connections of a server, kept up to date. `event` announces a new one. */
export function openConnections(server: Server, event: 'connection' | 'secureConnection'): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on(event, (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/**
 * Closes the connections that have sent nothing, such as those that browsers open ahead of need. Node
 * counts them as busy, so they would hold up a shutdown.
 */
export function closeSilent(sockets: Iterable<Socket>): void {
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
}
