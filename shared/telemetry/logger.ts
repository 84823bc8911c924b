import pino, { type DestinationStream, type Logger } from 'pino';

// One system call per line would take a tenth of the time of a short call. Each write has whole lines, and at most the
// size that a pipe writes atomically (4,096 bytes on Linux), because several processes may share one pipe.
const pageCharacters = 3_072;
const flushIntervalMs = 100;
// Backpressure: lines beyond this are dropped. The pipe has a buffer of its own in addition.
const maxUnreadBytes = 1024 * 1024;

/**
 * Writes lines to standard output in batches. If the reader falls behind, lines are dropped rather than delaying calls.
 * A paused terminal (Ctrl-S) blocks the process, because Node writes to terminals synchronously.
 */
class StandardOutput implements DestinationStream {
  #lines: string[] = [];
  #characters = 0;
  #lost = 0;

  constructor() {
    setInterval(() => this.#flush(), flushIntervalMs).unref();
    process.once('exit', () => this.#flush());
    // The reader has closed the pipe, so nobody can receive an error.
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

  /** Returns the number of lines dropped since the last call; 0 while the reader is behind. */
  takeLost(): number {
    if (process.stdout.writableLength > 0) return 0;
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }

  /** Calls `done` once all lines are written. */
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
 * Creates the logger of one process, which logs each event as a line of JSON. Without a `destination` it logs to
 * standard output, within 100 ms and at process exit, and drops lines if the reader is slow.
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

/** Formats the time once per millisecond, because a busy process logs several lines in each. */
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

// Omits `detail`, `where` and `hint`, in which PostgreSQL quotes values of the request.
const textFields = ['code', 'severity', 'schema', 'table', 'column', 'constraint'];
const dataException = /^22/;

/**
 * Returns the loggable fields of an error and its causes. It omits the others, because some pg errors reference the
 * whole client, which takes seconds to serialise.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const fields = Object.fromEntries(
    Object.entries(error).filter(([name, value]) => textFields.includes(name) && typeof value === 'string'),
  );
  // The message of a data exception quotes the invalid value.
  const message = dataException.test(fields.code ?? '') ? 'a data exception' : error.message;
  return {
    type: error.name,
    message,
    stack: error.stack?.replace(error.message, message),
    ...fields,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
