import pino, { type DestinationStream, type Logger } from 'pino';

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
  const standardOutput = openStandardOutput();
  const logger = pino(options, standardOutput);
  let lines = 0;
  standardOutput.on('drop', () => {
    lines += 1;
  });
  standardOutput.on('drain', () => {
    if (lines > 0) logger.warn({ lines }, 'lines of the log were lost: nobody read them');
    lines = 0;
  });
  return logger;
}

/**
 * Opens standard output without blocking calls or the process's exit on a pipe that nobody reads. A paused terminal
 * (Ctrl-S) blocks the process, because Node does not change how a terminal blocks.
 */
function openStandardOutput() {
  // Before pino's own listener, which would write until somebody reads.
  process.once('exit', () => {
    try {
      destination.flushSync();
    } catch {
      destination.destroy();
    }
  });
  const destination = pino.destination({
    // Node makes a pipe non-blocking when it opens it.
    dest: process.stdout.fd,
    sync: true,
    periodicFlush: 100,
    // A write has whole lines, and at most what a pipe takes atomically (4,096 bytes on Linux), because several
    // processes may share one pipe.
    minLength: 3_072,
    maxWrite: 4_096,
    // Backpressure: lines beyond this are dropped. The pipe has a buffer of its own in addition.
    maxLength: 1024 * 1024,
    // pino would wait for the reader. The next line or the next flush tries again.
    retryEAGAIN: () => false,
  });
  // The pipe is full, or its reader has closed it and nobody can receive an error.
  destination.on('error', () => undefined);
  return destination;
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
