import { gunzipSync } from 'node:zlib';
import { fromBinary, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { codeFromString } from '@connectrpc/connect/protocol-connect';
import { trailerFlag, trailerParse } from '@connectrpc/connect/protocol-grpc-web';
import { type ErrorInfo, ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import { StatusSchema } from '../../shared/gen/google/rpc/status_pb.ts';
import type { Answer } from './exchange.ts';

/** The error of an answer in any protocol. */
export interface AnswerError {
  /** The name of the code, as gRPC writes it. */
  readonly code: string;
  readonly message: string;
  readonly info: ErrorInfo | undefined;
}

/** The error of an answer; undefined when it has none. Throws when the answer is malformed in its protocol. */
export function readError({ status, headers, body }: Answer): AnswerError | undefined {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/grpc-web')) return fromTrailers({ ...headers, ...webTrailers(body) });
  if (type.startsWith('application/grpc')) return fromTrailers(headers);
  if (type.startsWith('application/connect+')) {
    const last = envelopes(body).at(-1);
    if (last?.flags !== 2) throw new Error('a Connect stream without its end');
    const end: { error?: JsonValue } = JSON.parse(last.content.toString('utf8'));
    return end.error === undefined ? undefined : fromConnect(end.error);
  }
  if (status >= 400 && type.startsWith('application/json')) {
    // Who compresses a request takes a long error compressed, too.
    const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    return fromConnect(JSON.parse(text.toString('utf8')));
  }
  return undefined;
}

function fromTrailers(trailers: Readonly<Record<string, string>>): AnswerError | undefined {
  const code = Number(trailers['grpc-status'] ?? Number.NaN);
  if (Number.isNaN(code)) throw new Error('an answer without grpc-status');
  if (code === 0) return undefined;
  const details = trailers['grpc-status-details-bin'];
  const entries = details === undefined ? [] : fromBinary(StatusSchema, Buffer.from(details, 'base64')).details;
  const info = entries.find(({ typeUrl }) => typeUrl.endsWith('/google.rpc.ErrorInfo'));
  return {
    code: nameOf(code),
    message: decodeURIComponent(trailers['grpc-message'] ?? ''),
    info: info && fromBinary(ErrorInfoSchema, info.value),
  };
}

function fromConnect(error: JsonValue): AnswerError {
  if (typeof error !== 'object' || error === null || Array.isArray(error))
    throw new Error('an error that is no object');
  const details = Array.isArray(error.details) ? error.details : [];
  const infos = details.flatMap((detail) => {
    if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return [];
    if (detail.type !== 'google.rpc.ErrorInfo' || detail.debug === undefined) return [];
    return [fromJson(ErrorInfoSchema, detail.debug)];
  });
  const code = codeFromString(String(error.code));
  return { code: nameOf(code ?? Number.NaN), message: String(error.message ?? ''), info: infos[0] };
}

const compressedFlag = 0x01;

/** connect-node compresses long trailers as it does messages. */
function webTrailers(body: Buffer): Record<string, string> {
  const trailer = envelopes(body).find(({ flags }) => (flags & trailerFlag) !== 0);
  if (trailer === undefined) return {};
  const { flags, content } = trailer;
  return Object.fromEntries(trailerParse((flags & compressedFlag) === 0 ? content : gunzipSync(content)));
}

function envelopes(body: Buffer): { flags: number; content: Buffer }[] {
  const found = [];
  for (let at = 0; at + 5 <= body.byteLength; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    found.push({ flags: body.readUInt8(at), content: body.subarray(at + 5, end) });
    at = end;
  }
  return found;
}

const nameOf = (code: number) =>
  Code[code] === undefined ? `code ${code}` : Code[code].replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase();
