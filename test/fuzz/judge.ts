import { type AnswerError, readError } from './answer-errors.ts';
import type { Answer, FuzzRequest, HttpExchange } from './exchange.ts';

/** The outcome of an answer, and its faults. */
export interface Verdict {
  readonly outcome: string;
  readonly faults: readonly string[];
}

const neverByInput = ['INTERNAL', 'UNKNOWN', 'DATA_LOSS'];

/** What grpc-js refuses with INTERNAL by itself, before a call begins (docs/errors.md). */
const refusedByGrpcJs = [/^Invalid grpc-timeout value "/, /^Failed to decompress message$/];
// grpc-js itself decodes the requests of health and reflection.
const undecodedByGrpcJs = 'Error deserializing request';

/** What connect-node refuses with codes of its own, before a call begins, unless it is a plain POST (design 3). */
const refusedByConnect =
  /^(parse binary: |cannot decode (message|field) |protocol error: |decompression failed$|received compressed envelope|unknown compression |message .*is larger than|internal error$)/;

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
  if (info === undefined && request.over === 'http1' && !isPlainPost(request) && refusedByConnect.test(message)) {
    return { outcome: `${code} (connect-node)`, faults };
  }
  if (request.over === 'http1') faults.push(...faultsOfStatus(answer.status));
  // The calls that grpc-js itself refuses or ends at their deadline have no request id.
  const isLate = code === 'DEADLINE_EXCEEDED' && info === undefined;
  if (request.over === 'http2' && (isLate || answer.headers['x-request-id'] === undefined)) {
    const isDocumented =
      code === 'INTERNAL' &&
      (refusedByGrpcJs.some((form) => form.test(message)) ||
        (message === undecodedByGrpcJs && request.path.startsWith('/grpc.')));
    if (neverByInput.includes(code) && !isDocumented) faults.push(`${code} by grpc-js: ${message}`);
    return { outcome: `${code} (grpc-js)`, faults };
  }
  const { causeReason = '' } = metadata;
  if (info?.reason === 'SLOT_NOT_UPDATED' && notTheRequest.test(causeReason))
    return { outcome: `${code} (${causeReason})`, faults };
  if (neverByInput.includes(code)) faults.push(`${code}: ${message}`);
  if (info?.domain !== 'delivery-admin' || info.reason === '') faults.push(`${code} without an ErrorInfo: ${message}`);
  return { outcome: code, faults };
}

/** Whether the request never meets connect-node: a unary POST of Connect, not compressed, with a sound timeout or none. */
function isPlainPost({ method, headers }: HttpExchange): boolean {
  const header = (name: string, absent: string) => {
    const values = headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
    return values.length === 0 ? absent : values.join(', ');
  };
  return (
    method === 'POST' &&
    /^application\/(json|proto)\b/i.test(header('content-type', '')) &&
    header('content-encoding', 'identity') === 'identity' &&
    /^\d{1,10}$/.test(header('connect-timeout-ms', '0'))
  );
}

const faultsOfStatus = (status: number) =>
  status >= 500 && ![501, 503, 504].includes(status) ? [`HTTP ${status}`] : [];

const faultsOfText = (text: string) => (leaks.test(text) ? [`an answer tells too much: ${text.slice(0, 300)}`] : []);

const hasLeave = (request: FuzzRequest) => request.over !== 'socket' && request.leaveAfterMs !== undefined;
