import { errors } from 'jose';
import type { Logger } from 'pino';

const linesPerSecond = 5;
const maxReasonLength = 200;

// How a claim failed, by its name.
const problems: Readonly<Record<string, string>> = {
  iss: 'is not AUTH_ISSUER',
  aud: 'is not AUTH_AUDIENCE',
  exp: 'has passed',
  nbf: 'has not come yet',
};

/** A value of a token for the log. */
export const shown = (value: unknown) => (typeof value === 'object' ? 'an object' : JSON.stringify(value));

/**
 * Returns a function that logs why a token was refused, given the cause of the `TokenVerifier`'s error. It logs neither
 * the token nor its claims, except a short, printable excerpt of the invalid one. After five lines in a second it only
 * counts, so that unauthenticated clients can't fill the log.
 */
export function logRefusals(logger: Logger): (cause: unknown, requestId: string) => void {
  let refused = 0;
  const endSecond = () => {
    if (refused > linesPerSecond) logger.warn({ tokens: refused - linesPerSecond }, 'further tokens were refused');
    refused = 0;
  };
  return (cause, requestId) => {
    refused += 1;
    if (refused === 1) setTimeout(endSecond, 1_000).unref();
    if (refused <= linesPerSecond) logger.warn({ reason: reasonOf(cause), requestId }, 'a token was refused');
  };
}

function reasonOf(cause: unknown): string {
  const reason = cause instanceof errors.JOSEError ? describe(cause) : 'it is malformed';
  return reason.slice(0, maxReasonLength).replace(/[^ -~]/g, '?');
}

function describe(error: errors.JOSEError): string {
  if (!(error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)) return error.message;
  const { claim, reason, message, payload } = error;
  const problem = reason === 'check_failed' ? problems[claim] : undefined;
  return `${problem === undefined ? message : `${claim} ${problem}`}: ${shown(payload[claim])}`;
}
