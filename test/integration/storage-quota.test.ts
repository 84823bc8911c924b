import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { RetryInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { failureOf } from '../support/contract.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { openSlot } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';
import { signToken, withToken } from '../support/tokens.ts';

it('A caller that has had too much stored in this hour is refused on every replica, for its mutations only', async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  const env = { STORED_MIB_PER_HOUR: '1' };
  const [one, two] = await Promise.all([stage.start({ env }), stage.start({ env })]);
  const large = { ...openSlot(), productIds: Array.from({ length: 6_000 }, (_, n) => n + 1) };
  await one.slots.createSlot(large);
  expect(await two.slots.createSlot(openSlot())).toBeTruthy();
  const refused = await failureOf(
    (async () => {
      for (;;) await one.slots.createSlot(large);
    })(),
  );
  expect(Code[refused.code]).toBe('ResourceExhausted');
  expect(refused.rawMessage).toBe('Too much was stored in this hour - please try again later');
  const [retry] = refused.findDetails(RetryInfoSchema);
  expect(Number(retry?.retryDelay?.seconds)).toBeLessThanOrEqual(3_600);
  // The other replica learns of it with what it has stored itself.
  await expect
    .poll(
      () =>
        two.slots.createSlot(openSlot()).then(
          () => 'stored',
          (error: unknown) => String(error),
        ),
      { timeout: 20_000 },
    )
    .toContain('Too much was stored');
  expect((await one.slots.getSlots({})).count).toBeGreaterThan(1);
  const [counted] = await stage.database.sql<{ callers: number }>(
    'select count(*)::integer as callers from stored_bytes',
  );
  expect(counted?.callers).toBe(1);
});

it('A delivery sequence counts with all that it holds, at any depth', async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  const { slots } = await stage.start({ env: { STORED_MIB_PER_HOUR: '1' } });
  const { slot } = await slots.createSlot(openSlot());
  const saveSequences = async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const sequence = { 1: { stops: Array.from({ length: 10_000 }, (_, n) => n + turn) } };
      await slots.updateDeliverySequence({ id: slot?.id, deliverySequence: fromJson(ValueSchema, sequence) });
    }
  };
  const refused = await failureOf(saveSequences());
  expect(refused.rawMessage).toBe('Too much was stored in this hour - please try again later');
});

it('Copies count with all that they make, which their request does not show', async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  const { slots, ports } = await stage.start({ env: { STORED_MIB_PER_HOUR: '1' } });
  const { slot } = await slots.createSlot({
    ...openSlot(),
    productIds: Array.from({ length: 1_000 }, (_, n) => n + 1),
  });
  const connection = createGrpcJsTransport(`127.0.0.1:${ports.grpcPort}`);
  onTestFinished(() => connection.close());
  const plan = createClient(SlotPlanService, withToken(connection, await signToken({ staffId: 1 })));
  const copy = (shiftDays: number) => plan.copySlots({ slotIds: [slot?.id ?? 0], shiftDays, repeat: 20 });
  expect((await copy(1)).created).toBe(20);
  expect((await failureOf(copy(30))).rawMessage).toBe('Too much was stored in this hour - please try again later');
});
