import pino, { type DestinationStream, type Logger } from 'pino';

// A system call for each line would be a tenth of a short call. What is written at once is whole lines
// and no more than a pipe takes undivided, because several processes may write to the same one.
const pageCharacters = 3_072;
const longestWaitMs = 100;

/** Standard output by pages of lines. */
function openStandardOutput(): DestinationStream {
  const output = pino.destination({ sync: true });
  let lines: string[] = [];
  let characters = 0;
  const flush = () => {
    if (characters === 0) return;
    output.write(lines.join(''));
    lines = [];
    characters = 0;
  };
  setInterval(flush, longestWaitMs).unref();
  process.once('exit', flush);
  return {
    write(line) {
      if (characters + line.length > pageCharacters) flush();
      lines.push(line);
      characters += line.length;
    },
  };
}

/**
 * The logger of one process: a JSON line an event, on standard output unless told otherwise. What is
 * logged is written within 100 ms, and at the end of the process.
 */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream = openStandardOutput(),
): Logger {
  const options: pino.LoggerOptions = {
    base: { service, pid: process.pid },
    level,
    timestamp: createTimestamp(),
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  };
  return pino(options, destination);
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
