import pino, { type Logger } from 'pino';

/** The logger of one process: a JSON line an event, on standard output. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    base: { service },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
