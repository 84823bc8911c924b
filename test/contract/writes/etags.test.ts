import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { couponContract, expectError, slotContract } from '../../support/contract.ts';
import { addCoupon, addSlot, couponMutations, newName, slotMutations } from '../../support/mutations.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
const sequence = (stop: number) => fromJson(ValueSchema, { 1: [stop] });

type Guarded = Readonly<Record<string, (id: number, etag: string, n?: number) => Promise<unknown>>>;

/** Tests each change of a record that takes an etag; `n` makes it another one. */
function testGuarded(
  guarded: Guarded,
  mutations: object,
  {
    add,
    etagOf,
    rowsOf,
  }: { add(): Promise<number>; etagOf(id: number): Promise<string>; rowsOf(id: number): Promise<unknown> },
): void {
  it('Every mutation of one record that exists takes an etag', () => {
    const others = Object.keys(mutations).filter((name) => !/^(Create|Generate)/.test(name));
    expect(Object.keys(guarded).sort()).toEqual(others.sort());
  });

  it.each(Object.entries(guarded))(
    '%s with the etag of the record changes it, and a second time fails',
    async (name, change) => {
      const id = await add();
      const etag = await etagOf(id);
      await change(id, etag);
      expect(await etagOf(id)).not.toBe(etag);
      await expectStale(name, change(id, etag, 2));
    },
  );

  it.each(Object.entries(guarded))('%s changes no other record', async (_name, change) => {
    const [id, other] = [await add(), await add()];
    const before = await rowsOf(other);
    await change(id, '');
    expect(await rowsOf(other)).toEqual(before);
  });

  it.each(Object.entries(guarded))('%s: of eight writers with one etag exactly one succeeds', async (_name, change) => {
    const id = await add();
    const etag = await etagOf(id);
    const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => change(id, etag, 2 * n + 1)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
}

const expectStale = (procedure: string, call: Promise<unknown>) =>
  expectError(
    call,
    procedure === 'UpdateSlot'
      ? { code: 'Aborted', message: 'Unable to Update Slot', reason: 'SLOT_NOT_UPDATED' }
      : 'ETAG_MISMATCH',
  );

slotContract('Etags of slots', (api) => {
  const etagOf = async (id: number) => (await api.staff.getSlotById({ id })).slot?.etag ?? '';
  const guarded: Guarded = {
    UpdateSlot: (id, etag, n = 1) => api.staff.updateSlot({ id, ...times, productIds: { ids: [n] }, etag }),
    UpdateSlotProducts: (slotId, etag, n = 1) => api.staff.updateSlotProducts({ slotId, productIds: [n], etag }),
    UpdateSlotCapacity: (slotId, etag, n = 1) =>
      api.staff.updateSlotCapacity({ slotId, isCapacityFull: n % 2 === 1, etag }),
    UpdateDeliverySequence: (id, etag, n = 1) =>
      api.staff.updateDeliverySequence({ id, deliverySequence: sequence(n), etag }),
    DeleteSlot: (id, etag) => api.staff.deleteSlot({ id, etag }),
  };
  const rowsOf = (id: number) =>
    api.sql(
      `select slots::text, array(select product_id from product_slots where slot_id = slots.id order by 1) as products
       from slots where id = $1`,
      [id],
    );
  testGuarded(guarded, slotMutations, { add: () => addSlot(api.sql), etagOf, rowsOf });

  it('Every read and every write of a slot shows the same etag', async () => {
    const { slot: created } = await api.staff.createSlot(times);
    const id = created?.id ?? 0;
    const shown = async () => ({
      getAll: (await api.staff.getAll({})).slots.find((slot) => slot.id === id)?.etag,
      getSlots: (await api.staff.getSlots({})).slots.find((slot) => slot.id === id)?.etag,
      getDeliverySequence: (await api.staff.getDeliverySequence({ id: String(id) })).etag,
    });
    const all = (etag: string | undefined) => ({ getAll: etag, getSlots: etag, getDeliverySequence: etag });
    expect(created?.etag).toMatch(/./);
    expect(await shown()).toEqual(all(created?.etag));
    const { slot: updated } = await api.staff.updateSlot({ id, ...times });
    expect(await shown()).toEqual(all(updated?.etag));
    const { slot: full } = await api.staff.updateSlotCapacity({ slotId: id, isCapacityFull: true });
    expect(await shown()).toEqual(all(full?.etag));
    expect(await etagOf(id)).toBe(full?.etag);
  });

  it.each(Object.entries(guarded))(
    '%s changes the etag, also that of a cached delivery sequence',
    async (_name, change) => {
      const id = await addSlot(api.sql);
      await api.staff.updateDeliverySequence({ id, deliverySequence: sequence(9) });
      const { etag } = await api.staff.getDeliverySequence({ id: String(id) });
      await change(id, '');
      const after = await etagOf(id);
      expect(after).not.toBe(etag);
      expect((await api.staff.getDeliverySequence({ id: String(id) })).etag).toBe(after);
    },
  );

  it('A snippet that is added changes the etag', async () => {
    const id = await addSlot(api.sql);
    const { slot: first } = await api.staff.updateSlot({ id, ...times });
    const { slot: second } = await api.staff.updateSlot({
      id,
      ...times,
      vendorSnippets: [{ name: newName('snippet'), productIds: [1] }],
    });
    expect(second?.etag).not.toBe(first?.etag);
  });

  it('UpdateSlot has the cause of another etag in its details', async () => {
    const id = await addSlot(api.sql);
    const info = await expectStale('UpdateSlot', api.staff.updateSlot({ id, ...times, etag: 'another' }));
    expect(info.metadata).toEqual({ causeReason: 'ETAG_MISMATCH', causeMessage: 'The record was changed meanwhile' });
  });

  it('UpdateSlotProducts of a slot that does not exist has no etag to match', async () => {
    await expectError(api.staff.updateSlotProducts({ slotId: 999_998, productIds: [1], etag: '0' }), 'ETAG_MISMATCH');
    expect(await api.sql('select from product_slots where slot_id = 999998')).toEqual([]);
  });

  it('An etag that is refused is followed by a read with the etag of the slot', async () => {
    const id = await addSlot(api.sql);
    await api.staff.updateDeliverySequence({ id, deliverySequence: sequence(1) });
    const { etag } = await api.staff.getDeliverySequence({ id: String(id) });
    // As another replica would, whose refresh has not told of it yet.
    await api.sql('update slots set is_capacity_full = true, etag = default where id = $1', [id]);
    await expectError(api.staff.updateDeliverySequence({ id, deliverySequence: sequence(2), etag }), 'ETAG_MISMATCH');
    const { etag: current } = await api.staff.getDeliverySequence({ id: String(id) });
    await api.staff.updateDeliverySequence({ id, deliverySequence: sequence(2), etag: current });
  });
});

couponContract('Etags of coupons', (api) => {
  const etagOf = async (id: number) => (await api.staff.getById({ id })).coupon?.etag ?? '';
  const guarded: Guarded = {
    Update: (id, etag, n = 1) =>
      api.staff.update({ id, updates: { coupon: { minOrder: n, applicableUsers: { ids: [n % 2 ? 1 : 2] } } }, etag }),
    Delete: (id, etag) => api.staff.delete({ id, etag }),
  };

  const rowsOf = (id: number) =>
    api.sql(
      `select coupons::text, array(select user_id from coupon_applicable_users where coupon_id = coupons.id) as users
       from coupons where id = $1`,
      [id],
    );
  testGuarded(guarded, couponMutations, { add: () => addCoupon(api.sql), etagOf, rowsOf });

  it('Every read and every write of a coupon shows the same etag', async () => {
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1 } });
    const id = coupon?.id ?? 0;
    const { coupons } = await api.staff.getAll({});
    expect(coupon?.etag).toMatch(/./);
    expect([await etagOf(id), coupons.find((listed) => listed.id === id)?.etag]).toEqual([coupon?.etag, coupon?.etag]);
    const { coupon: updated } = await api.staff.update({ id, updates: { coupon: { minOrder: 2 } } });
    expect(updated?.etag).not.toBe(coupon?.etag);
    expect(await etagOf(id)).toBe(updated?.etag);
  });

  it.each([
    ['users', { applicableUsers: { ids: [2] } }],
    ['products', { applicableProducts: { ids: [2] } }],
  ])('Other %s change the etag', async (_name, coupon) => {
    const id = await addCoupon(api.sql);
    const { coupon: first } = await api.staff.update({ id, updates: { coupon: { minOrder: 2 } } });
    const { coupon: second } = await api.staff.update({ id, updates: { coupon } });
    expect(second?.etag).not.toBe(first?.etag);
  });
});
