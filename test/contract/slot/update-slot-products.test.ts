import { beforeEach, expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';

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
    const { message, added, removed } = await api.staff.updateSlotProducts({ slotId: 1, productIds: [3, 4] });
    expect({ message, added, removed }).toEqual({
      message: 'Slot products updated successfully',
      added: 1,
      removed: 2,
    });
    expect(await stored(1)).toEqual([3, 4]);
    expect(await api.sql('select xmin from product_slots where product_id = 3')).toEqual([kept]);
  });

  it('UpdateSlotProducts changes no other slot', async () => {
    await api.sql('insert into product_slots values (1, 1), (2, 1), (2, 2)');
    await api.staff.updateSlotProducts({ slotId: 1, productIds: [2] });
    expect(await stored(2)).toEqual([1, 2]);
  });

  it('An empty list removes every product', async () => {
    await api.sql('insert into product_slots values (1, 1), (1, 2)');
    const { added, removed } = await api.staff.updateSlotProducts({ slotId: 1, productIds: [] });
    expect([added, removed]).toEqual([0, 2]);
    expect(await stored(1)).toEqual([]);
  });

  it('The same set of products adds and removes nothing', async () => {
    await api.sql('insert into product_slots values (1, 1), (1, 2)');
    const { added, removed } = await api.staff.updateSlotProducts({ slotId: 1, productIds: [2, 1] });
    expect([added, removed]).toEqual([0, 0]);
    expect(await stored(1)).toEqual([1, 2]);
  });

  it('The list is taken as a set, and distinct products are counted', async () => {
    await api.sql('insert into product_slots values (1, 1), (1, 9)');
    const { added, removed } = await api.staff.updateSlotProducts({ slotId: 1, productIds: [5, 5, 1, 1, 6, 5] });
    expect([added, removed]).toEqual([2, 1]);
    expect(await stored(1)).toEqual([1, 5, 6]);
  });

  it.each([0, -1, 2147483647, -2147483648])('A slot with the id %d need not exist', async (slotId) => {
    const { added, removed } = await api.staff.updateSlotProducts({ slotId, productIds: [1, 2] });
    expect([added, removed]).toEqual([2, 0]);
    expect(await stored(slotId)).toEqual([1, 2]);
  });

  it('The products need not exist', async () => {
    const productIds = [-2147483648, 0, 777, 2147483647];
    const { added } = await api.staff.updateSlotProducts({ slotId: 1, productIds });
    expect(added).toBe(4);
    expect(await stored(1)).toEqual(productIds);
  });

  it('The products of an inactive slot can be updated', async () => {
    const slotId = await idOf(
      api.sql,
      'insert into slots (delivery_time, freeze_time, is_active) values (now(), now(), false) returning id',
    );
    await api.staff.updateSlotProducts({ slotId, productIds: [1] });
    expect(await stored(slotId)).toEqual([1]);
    expect(await api.sql('select is_active from slots where id = $1', [slotId])).toEqual([{ is_active: false }]);
  });

  it.each([true, false])('Concurrent updates end as one of their sets (slot exists: %s)', async (exists) => {
    for (let round = 0; round < 4; round += 1) {
      const [slot] = exists
        ? await api.sql<{ id: number }>(
            'insert into slots (delivery_time, freeze_time) values (now(), now()) returning id',
          )
        : [{ id: 5_000_000 + round }];
      const slotId = Number(slot?.id);
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
