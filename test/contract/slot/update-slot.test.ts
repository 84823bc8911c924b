import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { addSlotOf } from '../../support/slots.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30' };

slotContract('UpdateSlot', (api) => {
  const addSlot = (isActive = true) =>
    addSlotOf(api.sql, {
      ...{ is_active: isActive, is_capacity_full: true, group_ids: [5], delivery_sequence: '{"1": [2]}' },
    });
  const productsOf = async (id: number) => {
    const rows = await api.sql<{ product_id: number }>(
      'select product_id from product_slots where slot_id = $1 order by 1',
      [id],
    );
    return rows.map((row) => row.product_id);
  };

  it('Both times are replaced, and the response has the slot', async () => {
    const id = await addSlot();
    const { slot, createdSnippets, message } = await api.staff.updateSlot({ id, ...times });
    expect(message).toBe('Slot updated successfully');
    expect(createdSnippets).toEqual([]);
    expect(slot).toMatchObject({ id, isActive: true, isCapacityFull: true, groupIds: [] });
    expect(slot?.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date('2030-05-01T10:00:00Z'));
    expect(slot?.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date('2030-05-01T06:30:00Z'));
    expect(await api.sql('select delivery_time, freeze_time from slots where id = $1', [id])).toEqual([
      { delivery_time: new Date('2030-05-01T10:00:00Z'), freeze_time: new Date('2030-05-01T06:30:00Z') },
    ]);
  });

  it('The capacity flag and the delivery sequence are kept', async () => {
    const id = await addSlot();
    await api.staff.updateSlot({ id, ...times });
    const rows = await api.sql('select is_capacity_full, delivery_sequence from slots where id = $1', [id]);
    expect(rows).toEqual([{ is_capacity_full: true, delivery_sequence: { 1: [2] } }]);
  });

  it.each([
    [true, undefined, true],
    [false, undefined, true],
    [false, true, true],
    [true, false, false],
    [false, false, false],
  ])('A slot with is_active %s, updated with %s, has is_active %s', async (before, isActive, after) => {
    const id = await addSlot(before);
    const { slot } = await api.staff.updateSlot({ id, ...times, isActive });
    expect(slot?.isActive).toBe(after);
    expect(await api.sql('select is_active from slots where id = $1', [id])).toEqual([{ is_active: after }]);
  });

  it('Group ids are taken as a set, and those of groups that do not exist are left out', async () => {
    const id = await addSlot();
    const groupIds = [4, 99, 2, 4, 0, -1, 2147483647];
    const { slot } = await api.staff.updateSlot({ id, ...times, groupIds });
    expect(slot?.groupIds.toSorted((a, b) => a - b)).toEqual([2, 4]);
    const [row] = await api.sql<{ group_ids: number[] }>('select group_ids from slots where id = $1', [id]);
    expect(row?.group_ids.toSorted((a, b) => a - b)).toEqual([2, 4]);
  });

  it('The groups are emptied when none are given', async () => {
    const id = await addSlot();
    const { slot } = await api.staff.updateSlot({ id, ...times });
    expect(slot?.groupIds).toEqual([]);
    expect(await api.sql('select group_ids from slots where id = $1', [id])).toEqual([{ group_ids: [] }]);
  });

  it('The products are kept when no list is given', async () => {
    const id = await addSlot();
    await api.sql('insert into product_slots values ($1, 1), ($1, 2)', [id]);
    await api.staff.updateSlot({ id, ...times });
    expect(await productsOf(id)).toEqual([1, 2]);
  });

  it.each([
    ['a list', [2, 3], [2, 3]],
    ['an empty list', [], []],
    ['a list with repeats', [3, 3, 1], [1, 3]],
    ['products that do not exist', [-4, 777, 2147483647], [-4, 777, 2147483647]],
  ])('The products are replaced by %s', async (_what, ids, expected) => {
    const id = await addSlot();
    await api.sql('insert into product_slots values ($1, 1), ($1, 2)', [id]);
    await api.staff.updateSlot({ id, ...times, productIds: { ids } });
    expect(await productsOf(id)).toEqual(expected);
  });

  it('Snippets are added in the order of the request, and existing ones are kept', async () => {
    const id = await addSlot();
    await api.sql(
      `insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('old-' || $1, $1::int, '{5}')`,
      [id],
    );
    const { createdSnippets } = await api.staff.updateSlot({
      id,
      ...times,
      vendorSnippets: [
        { name: `zebra-${id}`, productIds: [2, 1], validTill: '2030-06-01' },
        { name: `apple-${id}`, productIds: [2], validTill: '' },
      ],
    });
    expect(createdSnippets).toMatchObject([
      { snippetCode: `zebra-${id}`, slotId: id, productIds: [2, 1] },
      { snippetCode: `apple-${id}`, slotId: id, productIds: [2] },
    ]);
    const [zebra, apple] = createdSnippets;
    expect(zebra?.validTill && timestampDate(zebra.validTill)).toEqual(new Date('2030-06-01T00:00:00Z'));
    expect(apple?.validTill).toBeUndefined();
    expect([zebra?.accessUrl, apple?.accessUrl]).toEqual([undefined, undefined]);
    const rows = await api.sql('select snippet_code, product_ids from vendor_snippets where slot_id = $1 order by 1', [
      id,
    ]);
    expect(rows).toEqual([
      { snippet_code: `apple-${id}`, product_ids: [2] },
      { snippet_code: `old-${id}`, product_ids: [5] },
      { snippet_code: `zebra-${id}`, product_ids: [2, 1] },
    ]);
  });

  it('The slot with the largest id can be updated', async () => {
    await api.sql(`insert into slots (id, delivery_time, freeze_time) values (2147483647, now(), now())`);
    const { slot } = await api.staff.updateSlot({ id: 2147483647, ...times });
    expect(slot?.id).toBe(2147483647);
    await api.sql('delete from slots where id = 2147483647');
  });

  it('Concurrent calls of UpdateSlot and UpdateSlotProducts end as one of their product sets', async () => {
    const id = await addSlot();
    const sets = Array.from({ length: 8 }, (_, n) => [n, n + 20, 100]);
    await Promise.all(
      sets.map((ids, n) =>
        n % 2
          ? api.staff.updateSlot({ id, ...times, productIds: { ids } })
          : api.staff.updateSlotProducts({ slotId: id, productIds: ids }),
      ),
    );
    expect(sets).toContainEqual(await productsOf(id));
  });
});
