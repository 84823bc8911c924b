import type { DescMethod } from '@bufbuild/protobuf';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { allServices, couponServices } from '../support/all-services.ts';
import { type Draft, draftOf } from './drafts.ts';
import type { Random } from './random.ts';

/** A call from which requests of every protocol are made. */
export interface Target {
  readonly method: DescMethod;
  readonly name: string;
  readonly path: string;
  readonly service: 'slot' | 'coupon';
  readonly isStream: boolean;
  readonly isQuery: boolean;
  readonly draft: Draft;
  /** The fraction of its values that are odd. */
  readonly oddity: number;
}

const methods = allServices.flatMap(({ methods }) => methods);
const noSideEffects = 1;

/** A random procedure, with a message for it. All procedures are equally likely. */
export function chooseTarget(random: Random): Target {
  const method = random.pick(methods);
  const oddity = random.weighted([
    [7, 0],
    [3, 0.1],
    [2, 0.3],
    [2, 0.8],
  ]);
  const name = `${method.parent.typeName}/${method.name}`;
  const isOnBoth = method.parent === AuditService;
  return {
    method,
    name,
    path: `/${name}`,
    service: couponServices.includes(method.parent) || (isOnBoth && random.chance(0.5)) ? 'coupon' : 'slot',
    isStream: method.methodKind === 'server_streaming',
    isQuery: method.idempotency === noSideEffects,
    draft: draftOf(method.input, random, oddity),
    oddity,
  };
}

/** A path of no procedure, or a distorted path of one. */
export function oddPath(target: Target, random: Random): string {
  return random.pick([
    ...['/', '//', '/healthz/x', '/slot.v1.SlotService/Nothing', '/nothing.v1.Nothing/Nothing'],
    ...['/slot.v1.SlotService', '/*', `${target.path}/`, `/${target.path}`, target.path.toLowerCase()],
    ...[`${target.path}%00`, `${target.path}?x=1`, '/%2e%2e/x', `/x${target.path}`, `${target.path}#x`],
    ...['/grpc.health.v1.Health/Check', '/grpc.health.v1.Health/Watch', '/__proto__/x'],
    ...['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', `/${'a'.repeat(3_000)}`, '/constructor'],
    ...['/readyz', '/healthz'],
  ]);
}
