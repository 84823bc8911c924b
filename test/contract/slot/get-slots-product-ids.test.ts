import { beforeAll, expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { addSlotOf } from '../../support/slots.ts';

slotContract('GetSlotsProductIds', (api) => {
  const many = Array.from({ length: 500 }, (_, index) => 1_001 + index);

  beforeAll(async () => {
    await api.sql(
      `insert into product_slots values (1, 3), (1, 2), (2, 2), (3, 9), (4, 777), (4, 2147483647), (4, -5)`,
    );
    await api.sql('insert into product_slots select n, n + 1 from generate_series(1001, 1500) n');
    await addSlotOf(api.sql, { id: 6, is_active: false }, [4]);
  });

  const idsOf = async (slotIds: number[]) => {
    const { productIds } = await api.staff.getSlotsProductIds({ slotIds });
    return Object.fromEntries(
      Object.entries(productIds).map(([slotId, { ids }]) => [slotId, [...ids].sort((a, b) => a - b)]),
    );
  };

  it.each<[string, number[], Record<string, number[]>]>([
    ['Each requested slot has its product ids', [1, 2], { 1: [2, 3], 2: [2] }],
    ['A slot without products has an empty entry', [1, 5], { 1: [2, 3], 5: [] }],
    [
      'An id that no slot can have has an empty entry',
      [0, -1, 2147483647, -2147483648],
      { 0: [], '-1': [], 2147483647: [], '-2147483648': [] },
    ],
    ['The response is empty when no slot is requested', [], {}],
    ['The requested ids are taken as a set', [3, 5, 3, 3], { 3: [9], 5: [] }],
    ['An inactive slot has its product ids', [6], { 6: [4] }],
    ['Product ids are listed whether the products exist or not', [4], { 4: [-5, 777, 2147483647] }],
    ['Many slots can be requested at once', many, Object.fromEntries(many.map((id) => [id, [id + 1]]))],
  ])('%s', async (_rule, slotIds, expected) => {
    expect(await idsOf(slotIds)).toEqual(expected);
  });

  it('A slot with so many products that it is read alone has all of them, beside one that is not', async () => {
    const ids = Array.from({ length: 1500 }, (_, at) => at + 1);
    await api.sql('insert into product_slots select 7, n from generate_series(1, 1500) n');
    const found = await Promise.all([idsOf([7, 2]), idsOf([2])]);
    expect(found).toEqual([{ 7: ids, 2: [2] }, { 2: [2] }]);
  });
});
