import pino, { type DestinationStream, type Logger } from 'pino';

/** The logger of one process: a JSON line an event, on standard output unless told otherwise. */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    base: { service },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

const textFields = ['code', 'severity', 'detail', 'hint', 'where', 'schema', 'table', 'column', 'constraint'];

/**
 * What the log keeps of an error and its causes. Not every property: pg hangs the whole client on
 * some of its errors, which takes seconds to write.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const fields = Object.entries(error).filter(
    ([name, value]) => textFields.includes(name) && typeof value === 'string',
  );
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...Object.fromEntries(fields),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
