import { once } from 'node:events';
import { connect } from 'node:net';

// A process of overload-idle.test.ts: opens connections and keeps them until its input ends, so that
// they count against its own limit of open files. Prints how many are open and how many were closed.

const port = Number(process.argv[2]);
const count = Number(process.argv[3]);

// Every second one begins, so that the server has set up what it keeps for it: a connection of HTTP/2
// that waits for calls, or one of HTTP/1.1 after its first.
const beginnings = {
  grpc: Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]),
  web: Buffer.from('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'),
};
const beginning = process.argv[4] === 'grpc' ? beginnings.grpc : beginnings.web;

let begun = 0;
let settled = 0;
let closed = 0;

async function openOne(): Promise<void> {
  begun += 1;
  const begins = begun % 2 === 0;
  const socket = connect({ port, host: '127.0.0.1' });
  await new Promise<void>((resolve) => {
    socket.on('error', () => undefined);
    socket.once('close', () => {
      closed += 1;
      resolve();
    });
    socket.once('connect', () => {
      if (begins) socket.write(beginning);
      else resolve();
    });
    socket.once('data', () => resolve());
    socket.resume();
  });
  settled += 1;
}

// A hundred at a time: more than the queue of the server's port holds would be dropped, and tried again.
const lanes = Array.from({ length: 100 }, async () => {
  while (begun < count) await openOne();
});
const telling = setInterval(() => console.log(JSON.stringify({ open: settled - closed, closed })), 50);
await Promise.all(lanes);
process.stdin.resume();
await once(process.stdin, 'end');
clearInterval(telling);
process.exit();
