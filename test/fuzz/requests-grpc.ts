import { toWire } from './draft-encoding.ts';
import type { FuzzRequest } from './exchange.ts';
import { faultyEnvelopes, soundEnvelope } from './mutations.ts';
import { chooseTarget } from './procedures.ts';
import type { Random } from './random.ts';
import { misled, requestOf } from './requests-http.ts';

/** Native gRPC: a well-formed request, or one with a fault in its message, envelope, headers or path. */
export function grpcRequest(random: Random): FuzzRequest {
  const target = chooseTarget(random);
  const message = toWire(target.draft, random, target.oddity);
  const isFaulty = random.chance(0.27);
  const { kind, body, encoding } = isFaulty ? faultyEnvelopes(message, random) : soundEnvelope(message);
  const headers = [
    ['te', 'trailers'],
    ...(encoding === undefined ? [] : [['grpc-encoding', encoding] as const]),
  ] as const;
  const given = { kind, content: body, headers };
  const right = requestOf(target, 'gRPC', 'application/grpc+proto', given, random);
  return isFaulty ? right : misled(right, target, random);
}
