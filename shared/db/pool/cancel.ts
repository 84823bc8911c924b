import { connect } from 'node:net';
import type pg from 'pg';
import { cancellationKeyOf } from '../../internals/pg.ts';

const cancelRequestCode = 80_877_102;

/**
 * Cancels a connection's running statement with the cancel request of PostgreSQL's protocol. Poolers support it, while
 * `pg_cancel_backend` can't use the process id that a pooler reports. Resolves once the server has taken the request.
 * The statement may have ended by then. Rejects if the request may come later, and hit another one.
 */
export function cancelStatement(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  const key = cancellationKeyOf(client);
  if (key === undefined) return Promise.resolve();
  const { host, port, processID, secretKey } = key;
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(cancelRequestCode, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  return new Promise((resolve, reject) => {
    const path = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    const socket = connect(path, () => socket.write(request));
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the server did not take the cancellation')));
    socket.on('error', reject);
    // The server sends no answer. It closes the connection after signalling its process.
    socket.on('close', () => resolve());
    socket.resume();
  });
}
