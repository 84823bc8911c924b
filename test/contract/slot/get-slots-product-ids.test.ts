import { beforeEach, expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';

slotContract('GetSlotsProductIds', (api) => {
  beforeEach(() => api.sql('delete from vendor_snippets; delete from product_slots; delete from slots'));

  const idsOf = async (slotIds: number[]) => {
    const { productIds } = await api.staff.getSlotsProductIds({ slotIds });
    return Object.fromEntries(
      Object.entries(productIds).map(([slotId, { ids }]) => [slotId, [...ids].sort((a, b) => a - b)]),
    );
  };

  it('Each requested slot has its product ids', async () => {
    await api.sql('insert into product_slots values (1, 3), (1, 2), (2, 2), (3, 9)');
    expect(await idsOf([1, 2])).toEqual({ 1: [2, 3], 2: [2] });
  });

  it('A slot without products has an empty entry', async () => {
    await api.sql('insert into product_slots values (1, 3)');
    expect(await idsOf([1, 2])).toEqual({ 1: [3], 2: [] });
  });

  it('An id that no slot can have has an empty entry', async () => {
    expect(await idsOf([0, -1, 2147483647, -2147483648])).toEqual({
      0: [],
      '-1': [],
      2147483647: [],
      '-2147483648': [],
    });
  });

  it('The response is empty when no slot is requested', async () => {
    await api.sql('insert into product_slots values (1, 3)');
    expect(await idsOf([])).toEqual({});
  });

  it('The requested ids are taken as a set', async () => {
    await api.sql('insert into product_slots values (1, 3)');
    expect(await idsOf([1, 2, 1, 1])).toEqual({ 1: [3], 2: [] });
  });

  it('An inactive slot has its product ids', async () => {
    const id = await idOf(
      api.sql,
      'insert into slots (delivery_time, freeze_time, is_active) values (now(), now(), false) returning id',
    );
    await api.sql('insert into product_slots values ($1, 4)', [id]);
    expect(await idsOf([id])).toEqual({ [id]: [4] });
  });

  it('Product ids are listed whether the products exist or not', async () => {
    await api.sql('insert into product_slots values (1, 777), (1, 2147483647), (1, -5)');
    expect(await idsOf([1])).toEqual({ 1: [-5, 777, 2147483647] });
  });

  it('Many slots can be requested at once', async () => {
    await api.sql('insert into product_slots select n, n + 1 from generate_series(1, 500) n');
    const slotIds = Array.from({ length: 500 }, (_, index) => index + 1);
    expect(await idsOf(slotIds)).toEqual(Object.fromEntries(slotIds.map((id) => [id, [id + 1]])));
  });

  it('A slot with so many products that it is read alone has all of them, beside one that is not', async () => {
    const ids = Array.from({ length: 1500 }, (_, at) => at + 1);
    await api.sql('insert into product_slots select 1, n from generate_series(1, 1500) n');
    await api.sql('insert into product_slots values (2, 3)');
    const found = await Promise.all([idsOf([1, 2]), idsOf([2])]);
    expect(found).toEqual([{ 1: ids, 2: [3] }, { 2: [3] }]);
  });
});
