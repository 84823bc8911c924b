import { toJson } from '@bufbuild/protobuf';
import { timestampDate, ValueSchema } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, it } from 'vitest';
import { expectError, slotContract } from '../../support/contract.ts';

slotContract('GetAll', (api) => {
  beforeEach(() => api.sql('delete from vendor_snippets; delete from product_slots; delete from slots'));

  const addSlot = async (deliveryTime: string, columns = 'is_active', values = 'true') => {
    const [row] = await api.sql<{ id: number }>(
      `insert into slots (delivery_time, freeze_time, ${columns}) values ($1, '2030-01-01T00:00Z', ${values})
       returning id`,
      [deliveryTime],
    );
    return Number(row?.id);
  };

  it('The list is empty when there is no slot', async () => {
    const { slots, count } = await api.staff.getAll({});
    expect({ slots, count }).toEqual({ slots: [], count: 0 });
  });

  it('Only active slots are listed and counted', async () => {
    const first = await addSlot('2030-05-01T10:00Z');
    await addSlot('2030-05-02T10:00Z', 'is_active', 'false');
    const third = await addSlot('2030-05-03T10:00Z', 'is_capacity_full', 'true');
    const { slots, count } = await api.staff.getAll({});
    expect(slots.map(({ id }) => id)).toEqual([third, first]);
    expect(count).toBe(2);
  });

  it('Slots are ordered by delivery time, latest first', async () => {
    const middle = await addSlot('2030-05-02T00:00Z');
    const last = await addSlot('2030-05-03T00:00Z');
    const past = await addSlot('2001-05-01T00:00Z');
    const second = await addSlot('2030-05-02T00:00:01Z');
    const { slots } = await api.staff.getAll({});
    expect(slots.map(({ id }) => id)).toEqual([last, second, middle, past]);
  });

  it('Every active slot is listed, however many there are', async () => {
    await api.sql(`insert into slots (delivery_time, freeze_time)
      select now() + n * interval '1 hour', now() from generate_series(1, 1200) n`);
    const { slots, count } = await api.staff.getAll({});
    expect([slots.length, count]).toEqual([1200, 1200]);
  });

  it('A listed slot has all its fields', async () => {
    const id = await addSlot(
      '2030-05-01T10:00:00.250Z',
      'is_capacity_full, group_ids, delivery_sequence',
      `true, '{4,2}', '{"7": [3, 1]}'`,
    );
    const [slot] = (await api.staff.getAll({})).slots;
    expect(slot).toMatchObject({ id, isActive: true, isCapacityFull: true, groupIds: [4, 2] });
    expect(slot?.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date('2030-05-01T10:00:00.250Z'));
    expect(slot?.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date('2030-01-01T00:00:00Z'));
    expect(slot?.deliverySequence && toJson(ValueSchema, slot.deliverySequence)).toEqual({ 7: [3, 1] });
  });

  it('A slot without a delivery sequence has an empty object', async () => {
    await addSlot('2030-05-01T10:00Z');
    const [slot] = (await api.staff.getAll({})).slots;
    expect(slot?.deliverySequence && toJson(ValueSchema, slot.deliverySequence)).toEqual({});
  });

  it('A delivery sequence that is no map is returned as stored', async () => {
    await addSlot('2030-05-01T10:00Z', 'delivery_sequence', `'["a", 2.5, null]'`);
    const [slot] = (await api.staff.getAll({})).slots;
    expect(slot?.deliverySequence && toJson(ValueSchema, slot.deliverySequence)).toEqual(['a', 2.5, null]);
  });

  it('A listed slot has its products and its product associations', async () => {
    const later = await addSlot('2030-05-02T10:00Z');
    const sooner = await addSlot('2030-05-01T10:00Z');
    await api.sql('insert into product_slots values ($1, 2), ($1, 1), ($2, 3)', [later, sooner]);
    const summary = (id: number) => ({ id, name: `Product ${id}`, images: [`https://images.example/${id}.jpg`] });
    const { slots } = await api.staff.getAll({});
    expect(slots).toMatchObject([
      {
        products: [summary(1), summary(2)],
        productSlots: [
          { slotId: later, productId: 1, product: summary(1) },
          { slotId: later, productId: 2, product: summary(2) },
        ],
      },
      { products: [summary(3)], productSlots: [{ slotId: sooner, productId: 3, product: summary(3) }] },
    ]);
  });

  it('An association whose product does not exist is listed without a product', async () => {
    const slotId = await addSlot('2030-05-01T10:00Z');
    await api.sql('insert into product_slots values ($1, 5), ($1, 777)', [slotId]);
    const [slot] = (await api.staff.getAll({})).slots;
    expect(slot?.products.map(({ id }) => id)).toEqual([5]);
    expect(slot?.productSlots.map(({ productId }) => productId)).toEqual([5, 777]);
    expect(slot?.productSlots.map(({ product }) => product?.name)).toEqual(['Product 5', undefined]);
  });

  it('A slot without products has empty lists', async () => {
    await addSlot('2030-05-01T10:00Z');
    await api.sql('insert into product_slots values (-1, 1)');
    const [slot] = (await api.staff.getAll({})).slots;
    expect(slot).toMatchObject({ products: [], productSlots: [] });
  });

  it('A list whose delivery sequences have more than 32 MiB is refused, and inactive slots do not count', async () => {
    await api.sql(
      `insert into slots (delivery_time, freeze_time, is_active, delivery_sequence)
       select now(), now(), n < 9, to_jsonb(repeat('x', 4 * 1024 * 1024)) from generate_series(1, 10) n`,
    );
    await expectError(api.staff.getAll({}), 'ANSWER_TOO_LARGE');
    await api.sql('update slots set is_active = id = (select min(id) from slots)');
    expect((await api.staff.getAll({})).count).toBe(1);
  });
});
