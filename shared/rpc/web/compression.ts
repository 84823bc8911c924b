import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { compressionGzip } from '@connectrpc/connect-node';
import type { Compression } from '../../internals/connect.ts';

const compress = promisify(gzip);

// What is being compressed waits in memory for one of four threads, which tokens are verified on, too.
const maxUnderWay = 1024 * 1024;
let underWay = 0;

/**
 * Compresses an answer. Gives undefined while others keep the threads busy: callers who ask for
 * compression get their answers as they are then. One answer alone may have any size.
 */
export async function gzipUnlessBusy(body: Buffer | string): Promise<Buffer | undefined> {
  if (underWay > 0 && underWay + body.length > maxUnderWay) return undefined;
  return gzipCounted(body);
}

/**
 * The same for connect-node, which takes nothing that is not gzip: while busy it is stored in gzip's
 * form.
 *
 * @param bound looks at each unpacked request; throws for one that is not to be decoded.
 */
export function boundedGzip(bound: (message: Uint8Array) => void): Compression {
  return {
    ...compressionGzip,
    async compress(bytes) {
      const isBusy = underWay > 0 && underWay + bytes.length > maxUnderWay;
      return Uint8Array.from(await gzipCounted(bytes, isBusy ? 0 : undefined));
    },
    async decompress(bytes, readMaxBytes) {
      const message = await compressionGzip.decompress(bytes, readMaxBytes);
      bound(message);
      return message;
    },
  };
}

async function gzipCounted(body: Uint8Array | string, level?: number): Promise<Buffer> {
  underWay += body.length;
  try {
    return await compress(body, level === undefined ? {} : { level });
  } finally {
    underWay -= body.length;
  }
}
