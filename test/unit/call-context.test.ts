import { expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { staffCall } from '../support/call-context.ts';

const newCall = () => staffCall(SlotService.method.updateSlot);
const toldAfterWrite = (call: ReturnType<typeof newCall>) => {
  const told: boolean[] = [];
  void call.afterWrite((isCommitted) => void told.push(isCommitted));
  return told;
};

it('A write without a transaction is committed when its answer comes', () => {
  expect(toldAfterWrite(newCall())).toEqual([true]);
});

it.each([true, false])('A write answered after its transaction has ended is as committed as that: %s', async (end) => {
  const call = newCall();
  await call.endTransaction(end);
  expect(toldAfterWrite(call)).toEqual([end]);
});
