import { toJson } from '@bufbuild/protobuf';
import { timestampDate, ValueSchema } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectError, slotContract } from '../../support/contract.ts';

slotContract('GetSlots and GetAll', (api) => {
  beforeEach(() => api.sql('delete from vendor_snippets; delete from product_slots; delete from slots'));

  describe.each(['getSlots', 'getAll'] as const)('%s', (procedure) => {
    const list = async () => {
      const { slots, count } = await api.staff[procedure]({});
      return { slots, count };
    };

    it('The list is empty when there is no slot', async () => {
      expect(await list()).toEqual({ slots: [], count: 0 });
    });

    it('Only active slots are listed and counted', async () => {
      const rows = await api.sql<{ id: number; is_active: boolean }>(
        `insert into slots (delivery_time, freeze_time, is_active, is_capacity_full)
         select now(), now(), n % 2 = 0, n = 4 from generate_series(1, 5) n returning id, is_active`,
      );
      const { slots, count } = await list();
      const active = rows.filter((row) => row.is_active).map(({ id }) => id);
      expect(slots.map(({ id }) => id).sort((a, b) => a - b)).toEqual(active);
      expect(count).toBe(2);
    });

    it('Every active slot is listed, however many there are', async () => {
      await api.sql(`insert into slots (delivery_time, freeze_time) select now(), now() from generate_series(1, 1200)`);
      const { slots, count } = await list();
      expect([slots.length, count]).toEqual([1200, 1200]);
    });

    it('A listed slot has all its fields', async () => {
      await api.sql(`insert into slots (delivery_time, freeze_time, is_capacity_full, group_ids, delivery_sequence)
        values ('2030-05-01T10:00:00.250Z', '2030-05-01T06:00Z', true, '{4,2}', '{"7": [3, 1]}')`);
      const [slot] = (await list()).slots;
      expect(slot).toMatchObject({ isActive: true, isCapacityFull: true, groupIds: [4, 2] });
      expect(slot?.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date('2030-05-01T10:00:00.250Z'));
      expect(slot?.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date('2030-05-01T06:00:00Z'));
      expect(slot?.deliverySequence && toJson(ValueSchema, slot.deliverySequence)).toEqual({ 7: [3, 1] });
    });

    it.each([
      ['without a delivery sequence has an empty object', 'default', {}],
      ['whose delivery sequence is no map has it as stored', `'["a", 2.5, null]'`, ['a', 2.5, null]],
    ])('A slot %s', async (_what, stored, shown) => {
      await api.sql(
        `insert into slots (delivery_time, freeze_time, delivery_sequence) values (now(), now(), ${stored})`,
      );
      const [slot] = (await list()).slots;
      expect(slot?.deliverySequence && toJson(ValueSchema, slot.deliverySequence)).toEqual(shown);
    });

    it('A list whose delivery sequences have more than 32 MiB is refused, and inactive slots do not count', async () => {
      await api.sql(
        `insert into slots (delivery_time, freeze_time, is_active, delivery_sequence)
         select now(), now(), n < 9, to_jsonb(repeat('x', 4 * 1024 * 1024)) from generate_series(1, 10) n`,
      );
      await expectError(list(), 'ANSWER_TOO_LARGE');
      await api.sql('update slots set is_active = id = (select min(id) from slots)');
      expect((await list()).count).toBe(1);
    });
  });

  it('A slot with products is listed once by GetSlots, and without them', async () => {
    await api.sql(`with slot as (insert into slots (delivery_time, freeze_time) values (now(), now()) returning id)
      insert into product_slots select id, n from slot, generate_series(1, 3) n`);
    const { slots } = await api.staff.getSlots({});
    expect(slots).toHaveLength(1);
    expect(slots[0]).not.toHaveProperty('products');
    expect(slots[0]).not.toHaveProperty('productSlots');
  });
});
