import pino, { type DestinationStream, type Logger } from 'pino';

// A system call for each line would be a tenth of a short call. What is written at once is whole lines
// and no more than a pipe takes undivided, because several processes may write to the same one.
const pageCharacters = 3_072;
const flushIntervalMs = 100;
// What a reader who is late may find, beside what the pipe holds.
const maxUnreadBytes = 1024 * 1024;

/**
 * Standard output by pages of lines. Lines that nobody reads are lost, and no call waits for them; but a
 * terminal that is held, as by Ctrl-S, holds the process, because Node writes to it and waits.
 */
class StandardOutput implements DestinationStream {
  #lines: string[] = [];
  #characters = 0;
  #lost = 0;

  constructor() {
    setInterval(() => this.#flush(), flushIntervalMs).unref();
    process.once('exit', () => this.#flush());
    // Its reader has gone: what it missed is nobody's.
    process.stdout.on('error', () => undefined);
  }

  write(line: string): void {
    if (process.stdout.writableLength > maxUnreadBytes) {
      this.#lost += 1;
      return;
    }
    if (this.#characters + line.length > pageCharacters) this.#flush();
    this.#lines.push(line);
    this.#characters += line.length;
  }

  /** How many lines were lost since the last call, once there is somebody to be told. */
  takeLost(): number {
    if (process.stdout.writableLength > 0) return 0;
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  /** Calls back once all is handed to the reader. */
  flush(done: () => void): void {
    this.#flush();
    process.stdout.write('', done);
  }

  #flush(): void {
    if (this.#characters === 0) return;
    process.stdout.write(this.#lines.join(''));
    this.#lines = [];
    this.#characters = 0;
  }
}

/**
 * The logger of one process: a JSON line an event, on standard output unless told otherwise. What is
 * logged is written within 100 ms, and at the end of the process, as far as it is read.
 */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    base: { service, pid: process.pid },
    level,
    timestamp: createTimestamp(),
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  };
  if (destination !== undefined) return pino(options, destination);
  const output = new StandardOutput();
  const logger = pino(options, output);
  setInterval(() => {
    const lines = output.takeLost();
    if (lines > 0) logger.warn({ lines }, 'lines of the log were lost: nobody read them');
  }, flushIntervalMs).unref();
  return logger;
}

/** Written anew once a millisecond: a busy process logs several lines in one. */
function createTimestamp(): () => string {
  let writtenAt = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== writtenAt) {
      writtenAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

// Not `detail`, `where` and `hint`: PostgreSQL quotes values of the request there.
const textFields = ['code', 'severity', 'schema', 'table', 'column', 'constraint'];
const dataException = /^22/;

/**
 * What the log keeps of an error and its causes. Not every property: pg hangs the whole client on
 * some of its errors, which takes seconds to write.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const fields = Object.fromEntries(
    Object.entries(error).filter(([name, value]) => textFields.includes(name) && typeof value === 'string'),
  );
  // The text of a data exception is the value that could not be read.
  const message = dataException.test(fields.code ?? '') ? 'a data exception' : error.message;
  return {
    type: error.name,
    message,
    stack: error.stack?.replace(error.message, message),
    ...fields,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
