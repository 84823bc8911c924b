import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { couponContract, expectError, slotContract } from '../../support/contract.ts';
import { addCoupon, addSlot, couponMutations, newName, slotMutations } from '../../support/mutations.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
const sequence = (stop: number) => fromJson(ValueSchema, { 1: [stop] });

slotContract('Etags of slots', (api) => {
  const etagOf = async (id: number) => (await api.staff.getSlotById({ id })).slot?.etag ?? '';
  const everything = async (id: number) => ({
    slot: await api.sql('select * from slots where id = $1', [id]),
    products: await api.sql('select * from product_slots where slot_id = $1 order by product_id', [id]),
    snippets: await api.sql('select * from vendor_snippets where slot_id = $1', [id]),
  });

  /** Each change of a slot that takes an etag; `n` makes it another one. */
  const guarded: Record<string, (id: number, etag: string, n?: number) => Promise<unknown>> = {
    UpdateSlot: (id, etag, n = 1) => api.staff.updateSlot({ id, ...times, productIds: { ids: [n] }, etag }),
    UpdateSlotProducts: (slotId, etag, n = 1) => api.staff.updateSlotProducts({ slotId, productIds: [n], etag }),
    UpdateSlotCapacity: (slotId, etag, n = 1) =>
      api.staff.updateSlotCapacity({ slotId, isCapacityFull: n % 2 === 1, etag }),
    UpdateDeliverySequence: (id, etag, n = 1) =>
      api.staff.updateDeliverySequence({ id, deliverySequence: sequence(n), etag }),
    DeleteSlot: (id, etag) => api.staff.deleteSlot({ id, etag }),
  };
  const expectStale = (procedure: string, call: Promise<unknown>) =>
    expectError(
      call,
      procedure === 'UpdateSlot'
        ? { code: 'Aborted', message: 'Unable to Update Slot', reason: 'SLOT_NOT_UPDATED' }
        : 'ETAG_MISMATCH',
    );

  it('Every mutation of slots but CreateSlot takes an etag', () => {
    expect(Object.keys(guarded).sort()).toEqual(
      Object.keys(slotMutations)
        .filter((name) => name !== 'CreateSlot')
        .sort(),
    );
  });

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

  it.each(Object.entries(guarded))(
    '%s with the etag of the slot succeeds, and a second time fails',
    async (name, change) => {
      const id = await addSlot(api.sql);
      const etag = await etagOf(id);
      await change(id, etag);
      await expectStale(name, change(id, etag, 2));
    },
  );

  it.each(Object.entries(guarded))('%s with another etag writes nothing', async (name, change) => {
    const id = await addSlot(api.sql);
    const before = await everything(id);
    await expectStale(name, change(id, 'another'));
    expect(await everything(id)).toEqual(before);
  });

  it.each(Object.entries(guarded))('%s: of eight writers with one etag exactly one succeeds', async (_name, change) => {
    const id = await addSlot(api.sql);
    const etag = await etagOf(id);
    const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => change(id, etag, 2 * n + 1)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('UpdateSlot has the cause of another etag in its details', async () => {
    const id = await addSlot(api.sql);
    const info = await expectStale('UpdateSlot', api.staff.updateSlot({ id, ...times, etag: 'another' }));
    expect(info.metadata).toEqual({ causeReason: 'ETAG_MISMATCH', causeMessage: 'The record was changed meanwhile' });
  });

  it('A slot that does not exist is not found, whatever the etag', async () => {
    await expectError(api.staff.deleteSlot({ id: 999_999, etag: 'another' }), 'SLOT_NOT_FOUND');
  });

  it('UpdateSlotProducts of a slot that does not exist has no etag to match', async () => {
    await expectError(api.staff.updateSlotProducts({ slotId: 999_998, productIds: [1], etag: '0' }), 'ETAG_MISMATCH');
    expect((await everything(999_998)).products).toEqual([]);
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
  const everything = async (id: number) => ({
    coupon: await api.sql('select * from coupons where id = $1', [id]),
    users: await api.sql('select user_id from coupon_applicable_users where coupon_id = $1', [id]),
  });
  const guarded: Record<string, (id: number, etag: string, n?: number) => Promise<unknown>> = {
    Update: (id, etag, n = 1) =>
      api.staff.update({ id, updates: { coupon: { minOrder: n, applicableUsers: { ids: [n % 2 ? 1 : 2] } } }, etag }),
    Delete: (id, etag) => api.staff.delete({ id, etag }),
  };

  it('Every mutation of a coupon that exists takes an etag', () => {
    const creating = ['Create', 'CreateCoupon', 'CreateReservedCoupon', 'GenerateCancellationCoupon'];
    const others = Object.keys(couponMutations).filter((name) => !creating.includes(name));
    expect(Object.keys(guarded).sort()).toEqual(others.sort());
  });

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

  it('Delete changes the etag', async () => {
    const id = await addCoupon(api.sql);
    const etag = await etagOf(id);
    await api.staff.delete({ id });
    expect(await etagOf(id)).not.toBe(etag);
  });

  it.each(Object.entries(guarded))(
    '%s with the etag of the coupon succeeds, and a second time fails',
    async (_name, change) => {
      const id = await addCoupon(api.sql);
      const etag = await etagOf(id);
      await change(id, etag);
      await expectError(change(id, etag, 2), 'ETAG_MISMATCH');
    },
  );

  it.each(Object.entries(guarded))('%s with another etag writes nothing', async (_name, change) => {
    const id = await addCoupon(api.sql);
    const before = await everything(id);
    await expectError(change(id, 'another'), 'ETAG_MISMATCH');
    expect(await everything(id)).toEqual(before);
  });

  it.each(Object.entries(guarded))('%s: of eight writers with one etag exactly one succeeds', async (_name, change) => {
    const id = await addCoupon(api.sql);
    const etag = await etagOf(id);
    const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => change(id, etag, 2 * n + 1)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('A coupon that does not exist is not found, whatever the etag', async () => {
    await expectError(api.staff.delete({ id: 999_999, etag: 'another' }), 'COUPON_NOT_FOUND');
  });
});
