import { once } from 'node:events';
import { connect } from 'node:net';
import { resetAll } from '../support/http2-frames.ts';

// A process that resets its requests as fast as it can, on some connections, each of which it opens anew once it is
// closed, until its input ends. It then prints how many requests and connections there were.

const [port, connections, open, headers = '{}', body = ''] = process.argv.slice(2);

let [requests, connects] = [0, 0];
for (let lane = 0; lane < Number(connections); lane += 1) void attack();

async function attack(): Promise<never> {
  for (;;) {
    const socket = connect(Number(port), '127.0.0.1');
    connects += 1;
    requests += await resetAll(socket, JSON.parse(headers), Buffer.from(body, 'hex'), Number(open));
  }
}
process.stdin.resume();
await once(process.stdin, 'end');
console.log(JSON.stringify({ requests, connects }));
process.exit();
