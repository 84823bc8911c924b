import type { Server, Socket } from 'node:net';

/** The open connections of a server, as `event` tells of them: kept up to date. */
export function openConnections(server: Server, event: 'connection' | 'secureConnection'): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on(event, (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Closes connections on which nothing has come, such as a browser opens ahead: Node counts them as busy. */
export function closeSilent(sockets: Iterable<Socket>): void {
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
}
