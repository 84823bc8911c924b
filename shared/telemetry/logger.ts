import pino, { type DestinationStream, type Logger } from 'pino';

// A system call for each line would be a tenth of a short call. What is written at once is whole lines
// and no more than a pipe takes undivided, because several processes may write to the same one.
// At its limit a process logs faster than it writes; what is beyond this is lost, not the process.
const maxLength = 16 * 1024 * 1024;
const buffered = { sync: false, minLength: 3_072, maxWrite: 4_096, periodicFlush: 100, maxLength };

/**
 * The logger of one process: a JSON line an event, on standard output unless told otherwise. What is
 * logged is written within 100 ms, and at the end of the process.
 */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream = pino.destination(buffered),
): Logger {
  const options: pino.LoggerOptions = {
    base: { service, pid: process.pid },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  };
  return pino(options, destination);
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
