import { once } from 'node:events';
import { connect } from 'node:net';
import { frame, frameType, preface } from '../support/http2-frames.ts';

// A process of overload-idle.long.test.ts opens connections and keeps them until its input ends. It has a
// limit of open files of its own. It prints how many are open and how many the service has closed.

const port = Number(process.argv[2]);
const count = Number(process.argv[3]);

// Every second connection sends a beginning, so that the service sets up its state: an HTTP/2 session
// that waits for calls, or an HTTP/1.1 connection after its first call.
const beginnings = {
  grpc: Buffer.concat([preface, frame(frameType.settings, 0, 0, Buffer.alloc(0))]),
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

// A hundred at a time: the system drops more than the queue of the port holds, and tries them again later.
const lanes = Array.from({ length: 100 }, async () => {
  while (begun < count) await openOne();
});
const telling = setInterval(() => console.log(JSON.stringify({ open: settled - closed, closed })), 50);
await Promise.all(lanes);
process.stdin.resume();
await once(process.stdin, 'end');
clearInterval(telling);
process.exit();
