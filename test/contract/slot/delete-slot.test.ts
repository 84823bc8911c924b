import { expect, it } from 'vitest';
import { expectError, slotContract } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';

slotContract('DeleteSlot', (api) => {
  const addSlot = (isActive = true) =>
    idOf(
      api.sql,
      `insert into slots (delivery_time, freeze_time, is_active, is_capacity_full, group_ids, delivery_sequence)
       values (now(), now(), $1, true, '{1}', '{"1": [2]}') returning id`,
      [isActive],
    );

  it('A deleted slot is inactive', async () => {
    const id = await addSlot();
    const { message } = await api.staff.deleteSlot({ id });
    expect(message).toBe('Slot deleted successfully');
    expect(await api.sql('select is_active from slots where id = $1', [id])).toEqual([{ is_active: false }]);
  });

  it('A deleted slot keeps its record, its products and its snippets', async () => {
    const id = await addSlot();
    await api.sql('insert into product_slots values ($1, 1), ($1, 2)', [id]);
    await api.sql('insert into vendor_snippets (snippet_code, slot_id, product_ids) values ($1, $2, $3)', [
      `kept-${id}`,
      id,
      [1],
    ]);
    const [before] = await api.sql('select * from slots where id = $1', [id]);
    await api.staff.deleteSlot({ id });
    expect(await api.sql('select * from slots where id = $1', [id])).toEqual([
      { ...before, is_active: false, etag: expect.any(String) },
    ]);
    expect(await api.sql('select 1 from product_slots where slot_id = $1', [id])).toHaveLength(2);
    expect(await api.sql('select 1 from vendor_snippets where slot_id = $1', [id])).toHaveLength(1);
  });

  it('A deleted slot is not in the lists, and is still in GetSlotById', async () => {
    const id = await addSlot();
    await api.staff.deleteSlot({ id });
    const [all, slots, byId] = await Promise.all([
      api.staff.getAll({}),
      api.staff.getSlots({}),
      api.staff.getSlotById({ id }),
    ]);
    expect(all.slots.map((slot) => slot.id)).not.toContain(id);
    expect(slots.slots.map((slot) => slot.id)).not.toContain(id);
    expect(byId.slot).toMatchObject({ id, isActive: false });
  });

  it('DeleteSlot changes no other slot', async () => {
    const [id, other] = [await addSlot(), await addSlot()];
    await api.staff.deleteSlot({ id });
    expect(await api.sql('select is_active from slots where id = $1', [other])).toEqual([{ is_active: true }]);
  });

  it('A slot that is inactive already can be deleted', async () => {
    const id = await addSlot(false);
    const { message } = await api.staff.deleteSlot({ id });
    expect(message).toBe('Slot deleted successfully');
  });

  it.each([0, -1, 2147483647, -2147483648])('A slot with the id %d is not found', async (id) => {
    await expectError(api.staff.deleteSlot({ id }), 'SLOT_NOT_FOUND');
  });
});
