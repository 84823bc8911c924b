import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { invalidRequest } from '../../errors/errors.ts';
import { capGrpcTimeout } from '../limits/grpc-timeout.ts';
import { trailersOnly } from './refusals.ts';

const withParameters = /^application\/grpc(?:\+proto)?\s*;/;

/**
 * Prepares the headers of a request for grpc-js: caps its timeout, or leaves an undefined one, and joins its credentials
 * if it has several, which then are none. Node would take the first.
 */
export function prepareHeaders(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
  const timeout = headers['grpc-timeout'];
  if (timeout !== undefined) headers['grpc-timeout'] = capGrpcTimeout(String(timeout));
  let isFirst = true;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at] !== 'authorization') continue;
    if (!isFirst) headers.authorization += `, ${rawHeaders[at + 1]}`;
    isFirst = false;
  }
}

/** Returns the answer to a request that is refused for its prepared headers; undefined for one that may be a call. */
export function refusalOf(headers: IncomingHttpHeaders): OutgoingHttpHeaders | undefined {
  if (headers[':method'] !== 'POST') return { ':status': 405, allow: 'POST' };
  const type = headers['content-type'] ?? '';
  if (type !== 'application/grpc' && type !== 'application/grpc+proto' && !withParameters.test(type)) {
    return { ':status': 415 };
  }
  const isGarbled = 'grpc-timeout' in headers && headers['grpc-timeout'] === undefined;
  return isGarbled ? trailersOnly(invalidRequest('The header grpc-timeout is no timeout')) : undefined;
}
