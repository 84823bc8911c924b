import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { slotContract } from '../../support/contract.ts';

// Rows from before the constraints that keep them out.
slotContract('A slot with values that no answer can show', (api) => {
  beforeAll(async () => {
    await api.sql(`alter table slots drop constraint slots_sound; alter table products drop constraint products_sound;
      alter table vendor_snippets drop constraint vendor_snippets_sound;
      update products set images = '{null,a.jpg}' where id = 1;
      insert into slots (id, delivery_time, freeze_time, group_ids) values (801, '2100-01-02Z', '2100-01-01Z', '{1}'),
        (802, 'infinity', '2100-01-01Z', '{1,null,3}'), (803, '10000-01-01Z', '0044-03-15 BC', '[0:1]={4,5}');
      insert into product_slots values (801, 1), (802, 1), (803, 1);
      insert into vendor_snippets (snippet_code, slot_id, product_ids, valid_till) values ('odd', 802, '{1,null}', 'infinity');
      insert into store_refresh_requests (slot_id) values (801), (802), (803)`);
  });

  it.each(['getSlots', 'getAll'] as const)('%s shows the rest of them', async (procedure) => {
    const { slots } = await api.staff[procedure]({});
    const shown = slots.toSorted((left, right) => left.id - right.id);
    expect(shown.map(({ id, groupIds }) => [id, groupIds])).toEqual([
      [801, [1]],
      [802, [1, 3]],
      [803, [4, 5]],
    ]);
    expect(shown.map(({ deliveryTime }) => deliveryTime === undefined)).toEqual([false, true, true]);
    expect(shown.map(({ freezeTime }) => freezeTime === undefined)).toEqual([false, false, true]);
  });

  it('GetSlotById shows the rest of one, of its products and of its snippets', async () => {
    const { slot } = await api.staff.getSlotById({ id: 802 });
    expect(slot).toMatchObject({ id: 802, groupIds: [1, 3], products: [{ id: 1, images: ['a.jpg'] }] });
    expect(slot?.vendorSnippets).toMatchObject([{ snippetCode: 'odd', productIds: [1] }]);
    expect(slot?.vendorSnippets[0]?.validTill).toBeUndefined();
  });

  it('The stores have the other slots', async () => {
    const stores = createClient(SlotStoreService, api.transportAs('guest'));
    const { slot } = await api.staff.updateSlotCapacity({ slotId: 801, isCapacityFull: false });
    expect(slot?.id).toBe(801);
    await expect
      .poll(async () => (await stores.getOpenSlots({})).slots.map(({ id }) => id), { timeout: 20_000 })
      .toEqual([801]);
  });
});
