import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { compressionGzip } from '@connectrpc/connect-node';

const compress = promisify(gzip);

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
 * The gzip codec of connect-node, which requires gzip output. While the threads are busy, the output is
 * in gzip's format but not compressed.
 */
export const boundedGzip: typeof compressionGzip = {
  ...compressionGzip,
  async compress(bytes) {
    return Uint8Array.from(await gzipCounted(bytes, isBusy(bytes.length) ? 0 : undefined));
  },
};

async function gzipCounted(body: Uint8Array | string, level?: number): Promise<Buffer> {
  inFlightBytes += body.length;
  try {
    return await compress(body, level === undefined ? {} : { level });
  } finally {
    inFlightBytes -= body.length;
  }
}
