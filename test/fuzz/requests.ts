import type { FuzzRequest } from './exchange.ts';
import { Random } from './random.ts';
import { grpcRequest } from './requests-grpc.ts';
import { socketRequest } from './requests-socket.ts';
import { connectGetRequest, connectRequest, grpcWebRequest } from './requests-web.ts';

/** The request with this number in the run with this seed. It is the same each time. */
export function requestAt(seed: number, index: number): FuzzRequest {
  const random = Random.of(seed, index);
  return random.weighted([
    [36, grpcRequest],
    [30, connectRequest],
    [18, grpcWebRequest],
    [12, connectGetRequest],
    [4, socketRequest],
  ])(random);
}
