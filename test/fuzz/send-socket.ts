import { connect } from 'node:net';
import { type Answer, noAnswer, type SocketExchange } from './exchange.ts';

const patienceMs = 250;

/** Writes bytes on a new connection, and collects for a moment what comes back. */
export function sendOnSocket(port: number, { bytes }: SocketExchange): Promise<Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'base64')));
    const timer = setTimeout(() => socket.destroy(), patienceMs);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      const body = Buffer.concat(chunks);
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(body.toString('latin1')) ?? [];
      resolve(
        status === undefined ? noAnswer('lost') : { ended: 'answered', status: Number(status), headers: {}, body },
      );
    });
  });
}
