import { expect, it } from 'vitest';
import { expectInvalidField, slotContract } from '../../support/contract.ts';
import { addSlotOf } from '../../support/slots.ts';

slotContract('UpdateSlotCapacity', (api) => {
  const rowOf = async (id: number) => (await api.sql('select * from slots where id = $1', [id]))[0];

  it.each([
    [false, true, 'Slot marked as full capacity'],
    [true, false, 'Slot capacity reset'],
    [true, true, 'Slot marked as full capacity'],
    [false, false, 'Slot capacity reset'],
  ])('A slot whose flag is %s gets the flag %s', async (before, isCapacityFull, message) => {
    const slotId = await addSlotOf(api.sql, {
      is_capacity_full: before,
      group_ids: [3],
      delivery_sequence: '{"1": [2]}',
    });
    const row = await rowOf(slotId);
    const answer = await api.staff.updateSlotCapacity({ slotId, isCapacityFull });
    expect(answer).toMatchObject({ success: true, message });
    expect(answer.slot).toMatchObject({ id: slotId, isCapacityFull, isActive: true, groupIds: [3] });
    expect(await rowOf(slotId)).toEqual({ ...row, is_capacity_full: isCapacityFull, etag: expect.any(String) });
  });

  it('An inactive slot can be marked as full, and stays inactive', async () => {
    const slotId = await addSlotOf(api.sql, { is_active: false });
    const { slot } = await api.staff.updateSlotCapacity({ slotId, isCapacityFull: true });
    expect(slot).toMatchObject({ isActive: false, isCapacityFull: true });
  });

  it('A request without the flag is refused', async () => {
    const slotId = await addSlotOf(api.sql, { is_capacity_full: true });
    await expectInvalidField(api.staff.updateSlotCapacity({ slotId }), 'is_capacity_full');
    expect(await rowOf(slotId)).toMatchObject({ is_capacity_full: true });
  });
});
