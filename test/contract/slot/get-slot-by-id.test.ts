import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { expectError, slotContract } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';
import { addSlotOf } from '../../support/slots.ts';

slotContract('GetSlotById', (api) => {
  const addSlot = (sequence: unknown = {}) =>
    addSlotOf(api.sql, {
      ...{ delivery_time: '2030-05-01T10:00Z', freeze_time: '2030-05-01T06:00Z' },
      ...{ group_ids: [4, 99], delivery_sequence: JSON.stringify(sequence) },
    });
  const read = async (id: number) => {
    const { slot } = await api.staff.getSlotById({ id });
    if (slot === undefined) throw new Error('the answer has no slot');
    return slot;
  };

  it('The slot has all its fields', async () => {
    const id = await addSlot();
    const slot = await read(id);
    expect(slot).toMatchObject({ id, isActive: true, isCapacityFull: false, groupIds: [4, 99] });
    expect(slot.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date('2030-05-01T10:00:00Z'));
    expect(slot.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date('2030-05-01T06:00:00Z'));
    expect(slot).toMatchObject({ products: [], productSlots: [], vendorSnippets: [], deliverySequence: [] });
  });

  it('An inactive slot is found', async () => {
    const id = await addSlot();
    await api.sql('update slots set is_active = false, is_capacity_full = true where id = $1', [id]);
    expect(await read(id)).toMatchObject({ id, isActive: false, isCapacityFull: true });
  });

  it('The slot with the largest id is found', async () => {
    await api.sql('insert into slots (id, delivery_time, freeze_time) values (2147483647, now(), now())');
    expect(await read(2147483647)).toMatchObject({ id: 2147483647 });
    await api.sql('delete from slots where id = 2147483647');
  });

  it('The slot has its products, and an association without a product where the product does not exist', async () => {
    const [id, other] = [await addSlot(), await addSlot()];
    await api.sql('insert into product_slots values ($1, 777), ($1, 2), ($1, 1), ($2, 3)', [id, other]);
    const summary = (n: number) => ({ id: n, name: `Product ${n}`, images: [`https://images.example/${n}.jpg`] });
    const slot = await read(id);
    expect(slot.products).toMatchObject([summary(1), summary(2)]);
    expect(slot.productSlots).toMatchObject([
      { slotId: id, productId: 1, product: summary(1) },
      { slotId: id, productId: 2, product: summary(2) },
      { slotId: id, productId: 777 },
    ]);
    expect(slot.productSlots[2]?.product).toBeUndefined();
  });

  it('The slot has its snippets with their access URLs', async () => {
    const [id, other] = [await addSlot(), await addSlot()];
    await api.sql(
      `insert into vendor_snippets (snippet_code, slot_id, product_ids, valid_till)
       values ('zoe-' || $1, $1::int, '{2,1}', '2030-06-01T00:00Z'), ('abe-' || $1, $1::int, '{3}', null),
         ('x-' || $2, $2::int, '{1}', null)`,
      [id, other],
    );
    const { vendorSnippets } = await read(id);
    const accessUrl = (code: string) => `https://app.example/vendor-order-list?id=${code}`;
    expect(vendorSnippets).toMatchObject([
      { snippetCode: `zoe-${id}`, slotId: id, productIds: [2, 1], accessUrl: accessUrl(`zoe-${id}`) },
      { snippetCode: `abe-${id}`, slotId: id, productIds: [3], accessUrl: accessUrl(`abe-${id}`) },
    ]);
    const [zoe, abe] = vendorSnippets;
    expect(zoe?.validTill && timestampDate(zoe.validTill)).toEqual(new Date('2030-06-01T00:00:00Z'));
    expect(abe?.validTill).toBeUndefined();
  });

  it('Several snippets do not repeat the products', async () => {
    const id = await addSlot();
    await api.sql('insert into product_slots values ($1, 1), ($1, 2)', [id]);
    await api.sql(
      `insert into vendor_snippets (snippet_code, slot_id, product_ids)
       select 'many-' || $1 || '-' || n, $1::int, '{1}' from generate_series(1, 3) n`,
      [id],
    );
    const { products, productSlots, vendorSnippets } = await read(id);
    expect([products.length, productSlots.length, vendorSnippets.length]).toEqual([2, 2, 3]);
  });

  it.each([
    ['a map in ascending user id', { 10: [5], 9: [4, 3], 1: [7] }, [7, 4, 3, 5]],
    ['numeric ids past int32 before names', { a: [1], 10000000000: [2], 9: [3] }, [3, 2, 1]],
    ['other keys after the numeric ones, by text', { b: [1], aa: [2], 10: [3], 9: [4] }, [4, 3, 2, 1]],
    ['repeats as they stand', { 1: [5, 5], 2: [5] }, [5, 5, 5]],
    ['empty arrays of a map as nothing', { 1: [], 2: [3] }, [3]],
    ['an array of integers as it is', [3, 1, 2, 3], [3, 1, 2, 3]],
    ['the limits of int32', { 1: [2147483647, -2147483648, 0] }, [2147483647, -2147483648, 0]],
    ['an empty object', {}, []],
    ['an empty array', [], []],
  ])('The delivery sequence is flattened: %s', async (_rule, sequence, expected) => {
    expect((await read(await addSlot(sequence))).deliverySequence).toEqual(expected);
  });

  it.each([
    ...'null 7 "7" true [1,2.5] [1,"2"] [1,2147483648] [[1]] {"1":[1],"2":[2147483648]}'.split(' '),
    ...'{"1":[1],"2":[-2147483649]} {"1":[1],"2":[2.5]} {"1":[1],"2":["2"]} {"1":[1],"2":[null]}'.split(' '),
    ...'{"1":[1],"2":2} {"1":[1],"2":{"3":[4]}}'.split(' '),
  ])('A delivery sequence of %s is flattened to an empty list', async (sequence) => {
    expect((await read(await addSlot(JSON.parse(sequence)))).deliverySequence).toEqual([]);
  });

  it('The delivery sequence is read from the row, not from the cache', async () => {
    const id = await addSlot({ 1: [1] });
    await api.staff.getDeliverySequence({ id: String(id) });
    await api.sql(`update slots set delivery_sequence = '{"1": [2]}' where id = $1`, [id]);
    expect((await read(id)).deliverySequence).toEqual([2]);
  });

  it.each([0, -1, 2147483646, -2147483648])('A slot with the id %d is not found', async (id) => {
    await expectError(api.staff.getSlotById({ id }), 'SLOT_NOT_FOUND');
  });

  it('A slot whose snippets have more than a million product ids is refused', async () => {
    const id = await idOf(api.sql, 'insert into slots (delivery_time, freeze_time) values (now(), now()) returning id');
    const addSnippet = (ids: number) =>
      api.sql(
        `insert into vendor_snippets (slot_id, snippet_code, product_ids)
         select $1, 'of ' || $2::integer, array(select (random() * 1e9)::integer from generate_series(1, $2::integer))`,
        [id, ids],
      );
    await api.sql('delete from vendor_snippets');
    await addSnippet(20_000);
    expect((await api.staff.getSlotById({ id })).slot?.vendorSnippets[0]?.productIds).toHaveLength(20_000);
    await addSnippet(980_001);
    await expectError(api.staff.getSlotById({ id }), 'ANSWER_TOO_LARGE');
  });

  it('A slot with so many products that it is read alone has all of them, beside one that is not', async () => {
    const [large, small] = [await addSlot({ 1: [5] }), await addSlot({ 1: [6] })];
    await api.sql('insert into product_slots select $1, n from generate_series(1, 1500) n', [large]);
    await api.sql('insert into product_slots values ($1, 3)', [small]);
    const slots = await Promise.all([read(large), read(small)]);
    expect(slots.map(({ productSlots }) => productSlots.length)).toEqual([1500, 1]);
    expect(slots.map(({ products }) => products.length)).toEqual([20, 1]);
    expect(slots.map(({ deliverySequence }) => deliverySequence)).toEqual([[5], [6]]);
  });

  it('A slot with a sequence so long that it is read alone has all of it', async () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => at);
    expect((await read(await addSlot({ 7: ids }))).deliverySequence).toEqual(ids);
  });
});
