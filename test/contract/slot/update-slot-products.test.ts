import { beforeEach, expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { addSlotOf } from '../../support/slots.ts';

slotContract('UpdateSlotProducts', (api) => {
  beforeEach(() => api.sql('delete from product_slots'));

  const stored = async (slotId: number) => {
    const rows = await api.sql<{ product_id: number }>(
      'select product_id from product_slots where slot_id = $1 order by 1',
      [slotId],
    );
    return rows.map((row) => row.product_id);
  };

  it('Missing products are inserted, unlisted ones deleted, and the rest is kept', async () => {
    await api.sql('insert into product_slots values (1, 1), (1, 2), (1, 3)');
    const [kept] = await api.sql('select xmin from product_slots where product_id = 3');
    const answer = await api.staff.updateSlotProducts({ slotId: 1, productIds: [3, 4] });
    expect(answer).toMatchObject({ message: 'Slot products updated successfully', added: 1, removed: 2 });
    expect(await stored(1)).toEqual([3, 4]);
    expect(await api.sql('select xmin from product_slots where product_id = 3')).toEqual([kept]);
  });

  it.each([
    ['An empty list removes every product', [], { added: 0, removed: 3 }],
    ['The same set of products adds and removes nothing', [9, 2, 1], { added: 0, removed: 0 }],
    [
      'The list is taken as a set, of which distinct products are counted',
      [5, 5, 1, 1, 6, 5],
      { added: 2, removed: 2 },
    ],
    ['The products need not exist', [-2147483648, 0, 777, 2147483647], { added: 4, removed: 3 }],
  ])('%s', async (_rule, productIds, counts) => {
    await api.sql('insert into product_slots values (1, 1), (1, 2), (1, 9)');
    expect(await api.staff.updateSlotProducts({ slotId: 1, productIds })).toMatchObject(counts);
    expect(await stored(1)).toEqual([...new Set(productIds)].sort((a, b) => a - b));
  });

  it.each([0, -1, 2147483647, -2147483648])('A slot with the id %d need not exist', async (slotId) => {
    const answer = await api.staff.updateSlotProducts({ slotId, productIds: [1, 2] });
    expect(answer).toMatchObject({ added: 2, removed: 0 });
    expect(await stored(slotId)).toEqual([1, 2]);
  });

  it('The products of an inactive slot can be updated', async () => {
    const slotId = await addSlotOf(api.sql, { is_active: false });
    await api.staff.updateSlotProducts({ slotId, productIds: [1] });
    expect(await stored(slotId)).toEqual([1]);
    expect(await api.sql('select is_active from slots where id = $1', [slotId])).toEqual([{ is_active: false }]);
  });

  it.each([true, false])('Concurrent updates end as one of their sets (slot exists: %s)', async (exists) => {
    for (let round = 0; round < 4; round += 1) {
      const slotId = exists ? await addSlotOf(api.sql) : 5_000_000 + round;
      const sets = Array.from({ length: 8 }, (_, n) => [100, n, n + 1, n + 20]);
      const answers = await Promise.all(
        sets.map((productIds, n) =>
          api.staff.updateSlotProducts({ slotId, productIds: n % 2 ? productIds : productIds.toReversed() }),
        ),
      );
      const final = await stored(slotId);
      expect(sets.map((set) => set.toSorted((a, b) => a - b))).toContainEqual(final);
      const balance = answers.reduce((sum, { added, removed }) => sum + added - removed, 0);
      expect(balance).toBe(final.length);
    }
  });
});
