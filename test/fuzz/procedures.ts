import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
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

const couponServices: readonly DescService[] = [CouponService, RedemptionService, CouponBatchService];
const methods = [
  SlotService,
  SlotStoreService,
  SlotPlanService,
  CatalogService,
  ...couponServices,
  AuditService,
].flatMap(({ methods }) => methods);
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
