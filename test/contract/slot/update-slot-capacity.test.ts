import { expect, it } from 'vitest';
import { expectError, expectInvalidField, slotContract } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';

slotContract('UpdateSlotCapacity', (api) => {
  const addSlot = (isFull: boolean, isActive = true) =>
    idOf(
      api.sql,
      `insert into slots (delivery_time, freeze_time, is_capacity_full, is_active, group_ids, delivery_sequence)
       values (now(), now(), $1, $2, '{3}', '{"1": [2]}') returning id`,
      [isFull, isActive],
    );
  const rowOf = async (id: number) => (await api.sql('select * from slots where id = $1', [id]))[0];

  it('A slot is marked as full', async () => {
    const slotId = await addSlot(false);
    const { success, slot, message } = await api.staff.updateSlotCapacity({ slotId, isCapacityFull: true });
    expect({ success, message }).toEqual({ success: true, message: 'Slot marked as full capacity' });
    expect(slot).toMatchObject({ id: slotId, isCapacityFull: true, isActive: true, groupIds: [3] });
    expect(await rowOf(slotId)).toMatchObject({ is_capacity_full: true });
  });

  it('The capacity of a slot is reset', async () => {
    const slotId = await addSlot(true);
    const { success, slot, message } = await api.staff.updateSlotCapacity({ slotId, isCapacityFull: false });
    expect({ success, message }).toEqual({ success: true, message: 'Slot capacity reset' });
    expect(slot).toMatchObject({ id: slotId, isCapacityFull: false });
    expect(await rowOf(slotId)).toMatchObject({ is_capacity_full: false });
  });

  it.each([
    [true, 'Slot marked as full capacity'],
    [false, 'Slot capacity reset'],
  ])('A slot whose flag is %s already is accepted', async (flag, expected) => {
    const slotId = await addSlot(flag);
    const { slot, message } = await api.staff.updateSlotCapacity({ slotId, isCapacityFull: flag });
    expect(message).toBe(expected);
    expect(slot?.isCapacityFull).toBe(flag);
  });

  it('UpdateSlotCapacity changes no other field and no other slot', async () => {
    const [slotId, other] = [await addSlot(false), await addSlot(false)];
    const [before, otherBefore] = [await rowOf(slotId), await rowOf(other)];
    await api.staff.updateSlotCapacity({ slotId, isCapacityFull: true });
    expect(await rowOf(slotId)).toEqual({ ...before, is_capacity_full: true, etag: expect.any(String) });
    expect(await rowOf(other)).toEqual(otherBefore);
  });

  it('An inactive slot can be marked as full, and stays inactive', async () => {
    const slotId = await addSlot(false, false);
    const { slot } = await api.staff.updateSlotCapacity({ slotId, isCapacityFull: true });
    expect(slot).toMatchObject({ isActive: false, isCapacityFull: true });
  });

  it('A request without the flag is refused', async () => {
    const slotId = await addSlot(true);
    await expectInvalidField(api.staff.updateSlotCapacity({ slotId }), 'is_capacity_full');
    expect(await rowOf(slotId)).toMatchObject({ is_capacity_full: true });
  });

  it.each([0, -1, 2147483647, -2147483648])('A slot with the id %d is not found', async (slotId) => {
    await expectError(api.staff.updateSlotCapacity({ slotId, isCapacityFull: true }), 'SLOT_NOT_FOUND');
  });
});
