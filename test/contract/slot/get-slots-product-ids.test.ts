import { beforeEach, expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';

slotContract('GetSlotsProductIds', (api) => {
  beforeEach(() => api.sql('delete from vendor_snippets; delete from product_slots; delete from slots'));

  const idsOf = async (slotIds: number[]) => {
    const { productIds } = await api.staff.getSlotsProductIds({ slotIds });
    return Object.fromEntries(
      Object.entries(productIds).map(([slotId, { ids }]) => [slotId, [...ids].sort((a, b) => a - b)]),
    );
  };

  it('maps each requested slot to its products', async () => {
    await api.sql('insert into product_slots values (1, 3), (1, 2), (2, 2), (3, 9)');
    expect(await idsOf([1, 2])).toEqual({ 1: [2, 3], 2: [2] });
  });

  it('has an empty entry for a slot without products', async () => {
    await api.sql('insert into product_slots values (1, 3)');
    expect(await idsOf([1, 2])).toEqual({ 1: [3], 2: [] });
  });

  it('has an empty entry for ids that no slot can have', async () => {
    expect(await idsOf([0, -1, 2147483647, -2147483648])).toEqual({
      0: [],
      '-1': [],
      2147483647: [],
      '-2147483648': [],
    });
  });

  it('answers with an empty object when no slot is requested', async () => {
    await api.sql('insert into product_slots values (1, 3)');
    expect(await idsOf([])).toEqual({});
  });

  it('takes the requested ids as a set', async () => {
    await api.sql('insert into product_slots values (1, 3)');
    expect(await idsOf([1, 2, 1, 1])).toEqual({ 1: [3], 2: [] });
  });

  it('lists the products of an inactive slot', async () => {
    const [slot] = await api.sql<{ id: number }>(
      'insert into slots (delivery_time, freeze_time, is_active) values (now(), now(), false) returning id',
    );
    const id = Number(slot?.id);
    await api.sql('insert into product_slots values ($1, 4)', [id]);
    expect(await idsOf([id])).toEqual({ [id]: [4] });
  });

  it('lists product ids whether the products exist or not', async () => {
    await api.sql('insert into product_slots values (1, 777), (1, 2147483647), (1, -5)');
    expect(await idsOf([1])).toEqual({ 1: [-5, 777, 2147483647] });
  });

  it('answers for many slots at once', async () => {
    await api.sql('insert into product_slots select n, n + 1 from generate_series(1, 500) n');
    const slotIds = Array.from({ length: 500 }, (_, index) => index + 1);
    expect(await idsOf(slotIds)).toEqual(Object.fromEntries(slotIds.map((id) => [id, [id + 1]])));
  });
});
