import { setTimeout as pause } from 'node:timers/promises';
import { startRelay } from './relay.ts';

/** What a client sent before it waited for an answer. */
export interface RoundTrip {
  /** A number for the connection. */
  readonly connection: number;
  /** The names of the statements; of a simple query, its text. */
  readonly statements: readonly string[];
}

export interface RoundTripCounter {
  readonly port: number;
  /** The round trips of one application so far. */
  readonly trips: readonly RoundTrip[];
  close(): Promise<void>;
}

// Answers are held back for this long, so that what the client sends without waiting for them comes before them.
const holdBackMs = 30;

/**
 * A relay before PostgreSQL that reads its protocol. A message that a client sends while it waits for no
 * answer starts a round trip; what it sends before the answer has reached it belongs to the same one.
 */
export async function countRoundTrips(targetPort: number, applicationName: string): Promise<RoundTripCounter> {
  let connections = 0;
  const trips: RoundTrip[] = [];
  const relay = await startRelay(targetPort, (near, far) => {
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
        // The first answer belongs to the start of the connection, not to a statement.
        unanswered = Math.max(0, unanswered - ready);
        if (ready > 0 && unanswered === 0) current = undefined;
        near.write(chunk);
      });
    });
  });
  return {
    port: relay.port,
    get trips() {
      // The start of a connection has messages without statements.
      return trips.filter(({ statements }) => statements.length > 0);
    },
    close: relay.cut,
  };
}

interface Message {
  readonly type: string;
  readonly body: Buffer;
}

/** Splits a stream into the messages of PostgreSQL's protocol. The first message of a client has no type. */
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

/** The nth text of a message that begins with texts. */
function textAt(body: Buffer, index: number): string {
  return body.toString('utf8').split('\0')[index] ?? '';
}

/** A setting in the first message of a connection: a version, then names and values. */
function settingOf(body: Buffer, name: string): string | undefined {
  const texts = body.toString('utf8', 4).split('\0');
  return texts[texts.indexOf(name) + 1];
}
