import { expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';
import { whileHeld } from '../../support/locks.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };

// UpdateSlotProducts takes the id of a slot that does not exist yet: nothing locks it.
slotContract('Products of a slot that is created meanwhile', (api) => {
  /** The id after the next one: a first run that fails has used one up. */
  const unusedId = () => idOf(api.sql, `select nextval('slots_id_seq')::integer + 1 as id`);
  const productsOf = async (slotId: number | undefined) =>
    (await api.sql<{ id: number }>('select product_id as id from product_slots where slot_id = $1', [slotId])).map(
      ({ id }) => id,
    );

  it('CreateSlot succeeds while another transaction gives its id the same product', async () => {
    const stray = `insert into product_slots values (${await unusedId()}, 1)`;
    const { slot } = await whileHeld(api.databaseUrl, stray, () => api.staff.createSlot({ ...times, productIds: [1] }));
    expect(await productsOf(slot?.id)).toEqual([1]);
  });

  it('UpdateSlotProducts succeeds while another transaction creates the slot with one of the products', async () => {
    const slotId = await unusedId();
    const creation = `insert into slots (id, delivery_time, freeze_time) values (${slotId}, now(), now());
      insert into product_slots values (${slotId}, 1)`;
    const { added, removed } = await whileHeld(api.databaseUrl, creation, () =>
      api.staff.updateSlotProducts({ slotId, productIds: [1, 2] }),
    );
    expect([added, removed, await productsOf(slotId)]).toEqual([1, 0, [1, 2]]);
  });
});
