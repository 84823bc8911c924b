import { beforeEach, expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { addSlotOf } from '../../support/slots.ts';

// What GetAll and GetSlots have in common is in get-slots.test.ts.
slotContract('GetAll', (api) => {
  beforeEach(() => api.sql('delete from vendor_snippets; delete from product_slots; delete from slots'));

  const addSlot = (deliveryTime: string) => addSlotOf(api.sql, { delivery_time: deliveryTime });

  it('Slots are ordered by delivery time, latest first', async () => {
    const middle = await addSlot('2030-05-02T00:00Z');
    const last = await addSlot('2030-05-03T00:00Z');
    const past = await addSlot('2001-05-01T00:00Z');
    const second = await addSlot('2030-05-02T00:00:01Z');
    const { slots } = await api.staff.getAll({});
    expect(slots.map(({ id }) => id)).toEqual([last, second, middle, past]);
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
});
