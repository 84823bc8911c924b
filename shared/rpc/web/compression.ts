import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { compressionGzip } from '@connectrpc/connect-node';
import { commonErrors, fail, invalidRequest } from '../../errors/errors.ts';
import { maxMessageBytes } from '../limits/limits.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

// Responses wait in memory for Node's four worker threads, which also verify tokens.
const maxInFlightBytes = 1024 * 1024;
let inFlightBytes = 0;

/** Whether other responses keep the threads busy. A single response may have any size. */
function isBusy(bytes: number): boolean {
  return inFlightBytes > 0 && inFlightBytes + bytes > maxInFlightBytes;
}

/** Compresses a response with gzip; undefined while the threads are busy, so that it is sent uncompressed. */
export async function gzipUnlessBusy(body: Buffer | string): Promise<Buffer | undefined> {
  return isBusy(body.length) ? undefined : gzipCounted(body);
}

/**
 * The gzip codec for the answers of connect-node, which requires gzip output. While the threads are busy, the output is
 * in gzip's format but not compressed.
 */
export const boundedGzip: typeof compressionGzip = {
  ...compressionGzip,
  async compress(bytes) {
    return Uint8Array.from(await gzipCounted(bytes, isBusy(bytes.length) ? 0 : undefined));
  },
};

/** Decompresses the message of a request. Rejects with MESSAGE_TOO_LARGE, and with INVALID_ARGUMENT for what is no gzip. */
export async function gunzipMessage(bytes: Uint8Array): Promise<Uint8Array> {
  // An empty message needs no gzip.
  if (bytes.byteLength === 0) return bytes;
  try {
    return await decompress(bytes, { maxOutputLength: maxMessageBytes });
  } catch (cause) {
    const isTooLarge = cause instanceof RangeError;
    throw isTooLarge ? fail(commonErrors.messageTooLarge) : invalidRequest('The message is no gzip', { cause });
  }
}

async function gzipCounted(body: Uint8Array | string, level?: number): Promise<Buffer> {
  inFlightBytes += body.length;
  try {
    return await compress(body, level === undefined ? {} : { level });
  } finally {
    inFlightBytes -= body.length;
  }
}
