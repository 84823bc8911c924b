import { create } from '@bufbuild/protobuf';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { isAsked } from './calls-rows.ts';
import { grpcSide, type Intensity, type Side, type Stage } from './calls-sides.ts';
import { run, type Sample } from './load.ts';
import type { MeasuredServer } from './servers.ts';

/** Small calls alone, and while one client calls GetAll again and again. */
export interface Stall {
  readonly name: string;
  readonly alone: Sample;
  readonly beside: Sample;
}

/** One call at a time, at a rate that leaves its server idle most of the time. */
const callsPerSecond = 200;
const trickle: Intensity = { connections: 1, streams: 1, perSecond: callsPerSecond };
const loop: Intensity = { connections: 1, streams: 1 };

/**
 * "Large answers do not stall small ones": the latencies of small calls in the same process as GetAll,
 * and in another one, which for this moves to core 1, where PostgreSQL and the load are.
 */
export async function measureStalls(stage: Stage, seconds: number, only: string): Promise<Stall[]> {
  const { slot, coupon, couponCodes } = stage;
  const { getAll, getDeliverySequence } = SlotService.method;
  const { validate } = CouponService.method;
  const large = await grpcSide(stage, slot, getAll, [create(getAll.input)], loop);
  const toValidate = create(validate.input, { code: couponCodes[0] ?? '', userId: 1, orderAmount: 999.9 });
  const small: [string, Side][] = [
    [
      'GetDeliverySequence, in the process of GetAll',
      await grpcSide(stage, slot, getDeliverySequence, [create(getDeliverySequence.input, { id: '7' })], trickle),
    ],
    [
      'Validate, in another process, beside PostgreSQL and the load',
      await grpcSide(stage, coupon, validate, [toValidate], trickle),
    ],
  ];
  const count = Math.round(callsPerSecond * seconds);
  const stalls: Stall[] = [];
  await moveTo(1, coupon);
  try {
    for (const [name, side] of small.filter(([text]) => isAsked(text, only))) {
      await side.load(200);
      const alone = await side.load(count);
      let isOver = false;
      const small = side.load(count).finally(() => {
        isOver = true;
      });
      const looping = (async () => {
        while (!isOver) await large.load(5);
      })();
      const [beside] = await Promise.all([small, looping]);
      stalls.push({ name, alone, beside });
    }
  } finally {
    await moveTo(0, coupon);
  }
  return stalls;
}

/** Moves a process with all of its threads. */
async function moveTo(core: number, { pid }: MeasuredServer): Promise<void> {
  await run('taskset', ['-a', '-p', '-c', String(core), String(pid)]);
}
