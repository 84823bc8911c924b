import { expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { addSlotOf } from '../../support/slots.ts';

slotContract('DeleteSlot', (api) => {
  const add = () => addSlotOf(api.sql, { is_capacity_full: true, group_ids: [1] }, [1, 2]);

  it('A deleted slot is inactive, and keeps its record, its products and its snippets', async () => {
    const id = await add();
    await api.sql(`insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('kept', $1, '{1}')`, [id]);
    const [before] = await api.sql('select * from slots where id = $1', [id]);
    expect((await api.staff.deleteSlot({ id })).message).toBe('Slot deleted successfully');
    expect(await api.sql('select * from slots where id = $1', [id])).toEqual([
      { ...before, is_active: false, etag: expect.any(String) },
    ]);
    expect(await api.sql('select 1 from product_slots where slot_id = $1', [id])).toHaveLength(2);
    expect(await api.sql('select 1 from vendor_snippets where slot_id = $1', [id])).toHaveLength(1);
  });

  it('A deleted slot is not in the lists, and is still in GetSlotById', async () => {
    const id = await add();
    await api.staff.deleteSlot({ id });
    const [all, slots] = [await api.staff.getAll({}), await api.staff.getSlots({})];
    expect([...all.slots, ...slots.slots].map((slot) => slot.id)).not.toContain(id);
    expect((await api.staff.getSlotById({ id })).slot).toMatchObject({ id, isActive: false });
  });

  it('A slot that is inactive already can be deleted', async () => {
    const id = await addSlotOf(api.sql, { is_active: false });
    expect((await api.staff.deleteSlot({ id })).message).toBe('Slot deleted successfully');
  });
});
