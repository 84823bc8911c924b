import { Socket } from 'node:net';

/** What Node reads from a socket at once. More is waiting when a part is so long. */
const partBytes = 64 * 1024;

/**
 * Creates a socket that reads a long result in parts, between which other calls run. Node itself reads
 * up to 32 parts in one iteration of the event loop, and the driver takes long to turn them into rows.
 */
export function createPacedSocket(): Socket {
  const socket = new Socket();
  return socket.on('data', (part) => {
    if (part.length < partBytes) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
}
