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
 * Returns a gzip codec for connect-node, which requires gzip output. While the threads are busy, the output is in
 * gzip's format but not compressed.
 *
 * @param check receives each decompressed request before it is decoded, and throws to reject it.
 */
export function boundedGzip(check: (message: Uint8Array) => void): typeof compressionGzip {
  return {
    ...compressionGzip,
    async compress(bytes) {
      return Uint8Array.from(await gzipCounted(bytes, isBusy(bytes.length) ? 0 : undefined));
    },
    async decompress(bytes, readMaxBytes) {
      const message = await compressionGzip.decompress(bytes, readMaxBytes);
      check(message);
      return message;
    },
  };
}

async function gzipCounted(body: Uint8Array | string, level?: number): Promise<Buffer> {
  inFlightBytes += body.length;
  try {
    return await compress(body, level === undefined ? {} : { level });
  } finally {
    inFlightBytes -= body.length;
  }
}
