import { type AnswerError, readError } from './answer-errors.ts';
import type { Answer, FuzzRequest } from './exchange.ts';

/** The outcome of an answer, and its faults. */
export interface Verdict {
  readonly outcome: string;
  readonly faults: readonly string[];
}

const neverByInput = ['INTERNAL', 'UNKNOWN', 'DATA_LOSS'];

/** SLOT_NOT_UPDATED is INTERNAL when the request is not its cause (spec 7). */
const notTheRequest = /^(CONCURRENT_CHANGE|DATABASE_\w+)$/;

// Paths, stack traces, texts of the driver, SQL: no request contains any of it.
const leaks =
  /node_modules|\.[cm]?[jt]s:\d+|\n\s+at |\bat (?:async )?[\w.<>]+ \(|\/(?:tmp|home|usr|root|app|opt)\/|ECONN|EPIPE|ERR_[A-Z]|postgres|SQLSTATE|syntax error at|violates|duplicate key|relation "|Cannot read propert|is not a function|is not iterable|undefined \(/i;

/** Checks an answer for what holds for every answer. */
export function judge(request: FuzzRequest, answer: Answer): Verdict {
  const { ended, status } = answer;
  if (ended !== 'answered') {
    const isFault = ended === 'silent' || (ended === 'lost' && !request.mayBeLost && !hasLeave(request));
    return { outcome: ended, faults: isFault ? [`the call got no answer: ${ended}`] : [] };
  }
  if (request.over === 'socket') {
    return {
      outcome: `HTTP ${status}`,
      faults: [...faultsOfStatus(status), ...faultsOfText(answer.body.toString('latin1'))],
    };
  }
  let error: AnswerError | undefined;
  try {
    // An answer to HEAD has no body.
    error = request.method === 'HEAD' ? undefined : readError(answer);
  } catch (cause) {
    return { outcome: 'unreadable', faults: [`the answer is unreadable: ${String(cause)}`] };
  }
  if (error !== undefined) return judgeError(request, answer, error);
  if (status < 400) return { outcome: status === 200 ? 'OK' : `HTTP ${status}`, faults: [] };
  // Refused before a procedure: for its path, its HTTP method, its content type, or as malformed HTTP.
  const isBare = [404, 405, 415, 501].includes(status) || (request.mayBeLost && status < 500);
  const faults = isBare ? [] : [`HTTP ${status} without an error of the protocol`];
  return { outcome: `HTTP ${status}`, faults: [...faults, ...faultsOfText(answer.body.toString('utf8'))] };
}

function judgeError(request: FuzzRequest, answer: Answer, { code, message, info }: AnswerError): Verdict {
  const metadata = info?.metadata ?? {};
  const faults = faultsOfText([message, ...Object.values(metadata)].join('\n'));
  if (request.over === 'http1') faults.push(...faultsOfStatus(answer.status));
  // The calls that grpc-js itself refuses or ends at their deadline have no request id.
  const isLate = code === 'DEADLINE_EXCEEDED' && info === undefined;
  if (request.over === 'http2' && (isLate || answer.headers['x-request-id'] === undefined)) {
    if (neverByInput.includes(code)) faults.push(`${code} by grpc-js: ${message}`);
    return { outcome: `${code} (grpc-js)`, faults };
  }
  const { causeReason = '' } = metadata;
  if (info?.reason === 'SLOT_NOT_UPDATED' && notTheRequest.test(causeReason))
    return { outcome: `${code} (${causeReason})`, faults };
  // The code of a 405 and a 415.
  const isRefusal = code === 'UNKNOWN' && [405, 415].includes(answer.status);
  if (neverByInput.includes(code) && !isRefusal) faults.push(`${code}: ${message}`);
  if (info?.domain !== 'delivery-admin' || info.reason === '') faults.push(`${code} without an ErrorInfo: ${message}`);
  return { outcome: code, faults };
}

const faultsOfStatus = (status: number) =>
  status >= 500 && ![501, 503, 504].includes(status) ? [`HTTP ${status}`] : [];

const faultsOfText = (text: string) => (leaks.test(text) ? [`an answer tells too much: ${text.slice(0, 300)}`] : []);

const hasLeave = (request: FuzzRequest) => request.over !== 'socket' && request.leaveAfterMs !== undefined;
