import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What travelled to the server in one go. */
export interface RoundTrip {
  /** A number for the connection. */
  readonly connection: number;
  /** The names of the statements; a simple query's is its text. */
  readonly statements: readonly string[];
}

export interface RoundTripCounter {
  readonly port: number;
  /** The round trips of one application so far. */
  readonly trips: readonly RoundTrip[];
  close(): Promise<void>;
}

// Answers are held back for so long that what was sent without waiting for them is here before them.
const holdBackMs = 30;

/**
 * A way to PostgreSQL that reads its protocol. What a client sends while it waits for no answer
 * starts a round trip; what it sends before that answer has reached it belongs to the same one.
 */
export async function countRoundTrips(targetPort: number, applicationName: string): Promise<RoundTripCounter> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const trips: RoundTrip[] = [];
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    const client = new MessageReader(true);
    const answers = new MessageReader(false);
    const connection = ++connections;
    let isCounted = false;
    let unanswered = 0;
    let current: string[] | undefined;
    near.on('data', (chunk: Buffer) => {
      for (const { type, body } of client.read(chunk)) {
        if (type === 'startup') {
          isCounted = settingOf(body, 'application_name') === applicationName;
          continue;
        }
        if (current === undefined) {
          current = [];
          if (isCounted) trips.push({ connection, statements: current });
        }
        if (type === 'B') current.push(textAt(body, 1));
        if (type === 'Q') current.push(textAt(body, 0));
        if (type === 'Q' || type === 'S') unanswered += 1;
      }
      far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      const ready = answers.read(chunk).filter(({ type }) => type === 'Z').length;
      void pause(holdBackMs).then(() => {
        // The first answer ends the start of the connection, and answers no statement.
        unanswered = Math.max(0, unanswered - ready);
        if (ready > 0 && unanswered === 0) current = undefined;
        near.write(chunk);
      });
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get trips() {
      // A connection starts with words that are no statements.
      return trips.filter(({ statements }) => statements.length > 0);
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface Message {
  readonly type: string;
  readonly body: Buffer;
}

/** Cuts a stream into the messages of PostgreSQL's protocol; a client's first one has no type. */
class MessageReader {
  #rest = Buffer.alloc(0);
  #isStart: boolean;

  constructor(isClient: boolean) {
    this.#isStart = isClient;
  }

  read(chunk: Buffer): Message[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const typeLength = this.#isStart ? 0 : 1;
      if (this.#rest.length < typeLength + 4) return messages;
      const end = typeLength + this.#rest.readInt32BE(typeLength);
      if (this.#rest.length < end) return messages;
      const type = this.#isStart ? 'startup' : this.#rest.toString('latin1', 0, 1);
      messages.push({ type, body: this.#rest.subarray(typeLength + 4, end) });
      this.#rest = this.#rest.subarray(end);
      this.#isStart = false;
    }
  }
}

/** The nth text of a message that starts with texts. */
function textAt(body: Buffer, index: number): string {
  return body.toString('utf8').split('\0')[index] ?? '';
}

/** A setting of the message that starts a connection: a version, then names and values. */
function settingOf(body: Buffer, name: string): string | undefined {
  const texts = body.toString('utf8', 4).split('\0');
  return texts[texts.indexOf(name) + 1];
}
