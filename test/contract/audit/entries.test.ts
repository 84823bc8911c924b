import { randomUUID } from 'node:crypto';
import { type DescService, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { type Client, createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { ImportService } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import {
  type Api,
  batchContract,
  bookingContract,
  couponContract,
  importContract,
  planContract,
  redemptionContract,
  slotContract,
} from '../../support/contract.ts';
import {
  addCoupon,
  addSlot,
  batchMutations,
  bookingMutations,
  couponMutations,
  importMutations,
  type Mutations,
  newName,
  planMutations,
  redemptionMutations,
  slotMutations,
} from '../../support/mutations.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00.250Z' };

/** The entries of a record, newest first. */
async function entriesOf(api: Api<DescService>, resourceType: string, resourceId: number) {
  const { entries } = await createClient(AuditService, api.transportAs('staff')).listEntries({
    resourceType,
    resourceId,
  });
  return entries;
}

/** Expects that a call leaves one entry of a record, which has so much before and after. */
async function expectChange(
  api: Api<DescService>,
  [resourceType, id]: readonly [string, number],
  call: () => Promise<unknown>,
  expected: { readonly before: object; readonly after: object },
) {
  const earlier = await entriesOf(api, resourceType, id);
  await call();
  const [entry, ...others] = await entriesOf(api, resourceType, id);
  expect(others).toEqual(earlier);
  expect({ before: entry?.before, after: entry?.after }).toEqual(expected);
}

function testMutations<Service extends DescService>(
  api: Api<Service>,
  service: string,
  mutations: Mutations<Client<Service>>,
): void {
  const entriesFrom = (requestId: string) =>
    api.sql<{ resource_type: string; procedure: string; subject: string; staff_id: number }>(
      `select *, shown_bytes - octet_length(concat(before, after)) as uncounted_bytes
       from audit_entries where request_id = $1 order by resource_type`,
      [requestId],
    );

  it.each(Object.entries(mutations))('%s leaves an entry for each record that it changes', async (name, prepare) => {
    const mutation = await prepare(api.sql);
    const requestId = randomUUID();
    await mutation.call(api.staff, { headers: { 'x-request-id': requestId } });
    const entries = await entriesFrom(requestId);
    expect(entries.map((entry) => entry.resource_type)).toEqual(mutation.changes);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        ...{ procedure: `${service}/${name}`, subject: 'tester', staff_id: 1 },
        uncounted_bytes: 0,
      });
    }
  });
}

slotContract('Audit entries of slots', (api) => {
  testMutations(api, SlotService.typeName, slotMutations);

  it('A created slot has an entry with all its fields, and nothing before', async () => {
    const name = newName('snippet');
    const { slot } = await api.staff.createSlot({
      ...times,
      ...{ isActive: false, productIds: [3, 1, 777], groupIds: [9, 2] },
      vendorSnippets: [{ name, productIds: [2, 1], validTill: '2031-01-01' }],
    });
    const [entry] = await entriesOf(api, 'slot', slot?.id ?? 0);
    expect(entry?.before).toBeUndefined();
    expect(entry?.after).toEqual({
      ...times,
      ...{ isActive: false, isCapacityFull: false, groupIds: [9, 2], deliverySequence: {}, productIds: [1, 3, 777] },
      vendorSnippets: [{ snippetCode: name, productIds: [2, 1], validTill: '2031-01-01T00:00:00Z' }],
    });
  });

  it('Of a list of more than 100 ids an entry holds those that were added and removed', async () => {
    const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    const { slot } = await api.staff.createSlot({ ...times, productIds: ids(1, 101), groupIds: ids(1, 100) });
    const id = slot?.id ?? 0;
    const [created] = await entriesOf(api, 'slot', id);
    expect(created?.after).toMatchObject({ productIds: { added: ids(1, 101), removed: [] }, groupIds: ids(1, 100) });
    await expectChange(api, ['slot', id], () => api.staff.updateSlotProducts({ slotId: id, productIds: ids(2, 102) }), {
      before: {},
      after: { productIds: { added: [102], removed: [1] } },
    });
    const update = { id, ...times, groupIds: [] };
    await expectChange(api, ['slot', id], () => api.staff.updateSlot({ ...update, productIds: { ids: ids(3, 102) } }), {
      before: { groupIds: ids(1, 100) },
      after: { groupIds: [], productIds: { added: [], removed: [2] } },
    });
    await expectChange(api, ['slot', id], () => api.staff.updateSlotProducts({ slotId: id, productIds: ids(4, 103) }), {
      before: { productIds: ids(3, 102) },
      after: { productIds: ids(4, 103) },
    });
  });

  it('UpdateSlot shows the fields that differ, and no others', async () => {
    const id = await addSlot(api.sql);
    const { deliveryTime } = times;
    const update = { id, deliveryTime, freezeTime: '2029-01-01' };
    await expectChange(api, ['slot', id], () => api.staff.updateSlot(update), {
      before: { deliveryTime: '2029-01-02T00:00:00Z' },
      after: { deliveryTime },
    });
    await expectChange(
      api,
      ['slot', id],
      () => api.staff.updateSlot({ ...update, isActive: false, groupIds: [5, 1] }),
      { before: { isActive: true, groupIds: [] }, after: { isActive: false, groupIds: [5, 1] } },
    );
    await expectChange(
      api,
      ['slot', id],
      () => api.staff.updateSlot({ ...update, isActive: false, groupIds: [5, 1], productIds: { ids: [9, 2] } }),
      { before: { productIds: [1, 2] }, after: { productIds: [2, 9] } },
    );
  });

  it('UpdateSlot shows the snippets of the slot before and after', async () => {
    const id = await addSlot(api.sql);
    const [first, second] = [newName('snippet'), newName('snippet')];
    const add = (name: string) => api.staff.updateSlot({ id, ...times, vendorSnippets: [{ name, productIds: [1] }] });
    await api.staff.updateSlot({ id, ...times });
    const one = { snippetCode: first, productIds: [1] };
    await expectChange(api, ['slot', id], () => add(first), {
      before: { vendorSnippets: [] },
      after: { vendorSnippets: [one] },
    });
    await expectChange(api, ['slot', id], () => add(second), {
      before: { vendorSnippets: [one] },
      after: { vendorSnippets: [one, { snippetCode: second, productIds: [1] }] },
    });
  });

  it('UpdateSlotProducts shows the products before and after, also of a slot that does not exist', async () => {
    const slotId = await addSlot(api.sql);
    for (const [id, before] of [
      [slotId, [1, 2]],
      [800_000_000, []],
    ] as const) {
      const change = () => api.staff.updateSlotProducts({ slotId: id, productIds: [5, 2] });
      await expectChange(api, ['slot', id], change, {
        before: { productIds: before },
        after: { productIds: [2, 5] },
      });
      await api.staff.updateSlotProducts({ slotId: id, productIds: [] });
    }
  });

  it('The capacity, the active flag and the delivery sequence each have their entry', async () => {
    const id = await addSlot(api.sql);
    const sequence = { 7: [3, 1], name: { deep: null } };
    const store = (json: JsonValue) =>
      api.staff.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, json) });
    await expectChange(api, ['slot', id], () => api.staff.updateSlotCapacity({ slotId: id, isCapacityFull: true }), {
      before: { isCapacityFull: false },
      after: { isCapacityFull: true },
    });
    await expectChange(api, ['slot', id], () => store(sequence), {
      before: { deliverySequence: {} },
      after: { deliverySequence: sequence },
    });
    await expectChange(api, ['slot', id], () => api.staff.deleteSlot({ id }), {
      before: { isActive: true },
      after: { isActive: false },
    });
  });

  it('Entries can be neither changed nor deleted, not even by the owner of the table', async () => {
    for (const change of [
      'update audit_entries set subject = subject',
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      await expect(api.sql(change)).rejects.toThrow('audit entries are append only');
    }
  });

  it('Changes of one slot that wait for one another leave entries that follow from one another', async () => {
    const slotId = await addSlot(api.sql);
    const sets = Array.from({ length: 12 }, (_, n) => [n + 1, 20]);
    await Promise.all(sets.map((productIds) => api.staff.updateSlotProducts({ slotId, productIds })));
    const entries = (await entriesOf(api, 'slot', slotId)).toReversed();
    expect(entries).toHaveLength(12);
    for (const [index, entry] of entries.entries()) {
      expect(entry.before).toEqual(index === 0 ? { productIds: [1, 2] } : entries[index - 1]?.after);
    }
  });
});

redemptionContract('Audit entries of redemptions', (api) => {
  testMutations(api, RedemptionService.typeName, redemptionMutations);
});

bookingContract('Audit entries of bookings', (api) => {
  testMutations(api, SlotBookingService.typeName, bookingMutations);
});

importContract('Audit entries of imports', (api) => {
  testMutations(api, ImportService.typeName, importMutations);
});

batchContract('Audit entries of batches', (api) => {
  testMutations(api, CouponBatchService.typeName, batchMutations);
});

planContract('Audit entries of plans', (api) => {
  testMutations(api, SlotPlanService.typeName, planMutations);
});

couponContract('Audit entries of coupons', (api) => {
  it('Of a list of more than 100 ids an entry holds those that were added and removed', async () => {
    const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1, productIds: { ids: ids(1, 101) } } });
    const id = coupon?.id ?? 0;
    const [created] = await entriesOf(api, 'coupon', id);
    expect(created?.after).toMatchObject({ productIds: { added: ids(1, 101), removed: [] } });
    const update = (productIds: number[]) => () =>
      api.staff.update({ id, updates: { coupon: { productIds: { ids: productIds } } } });
    const removed = [2, 3, 4, ...ids(6, 101)];
    await expectChange(api, ['coupon', id], update([5, 1]), {
      before: {},
      after: { productIds: { added: [], removed } },
    });
    await expectChange(api, ['coupon', id], update([1, 5]), {
      before: { productIds: [5, 1] },
      after: { productIds: [1, 5] },
    });
  });

  testMutations(api, CouponService.typeName, couponMutations);

  it('A created coupon has an entry with the fields that it has', async () => {
    const { coupon } = await api.staff.create({
      coupon: {
        ...{ couponCode: newName('A'), discountPercent: 0.5, applicableUsers: { ids: [2, 1] } },
        productIds: { ids: [4] },
      },
    });
    const [entry] = await entriesOf(api, 'coupon', coupon?.id ?? 0);
    expect(entry?.before).toBeUndefined();
    expect(entry?.after).toEqual({
      ...{ couponCode: coupon?.couponCode, discountPercent: '0.5', isUserBased: false, isApplyForAll: false },
      ...{ isInvalidated: false, exclusiveApply: false, productIds: [4], createdBy: 1 },
      ...{ createdAt: expect.stringMatching(/^2\d{3}-.*Z$/), applicableUsers: [1, 2], applicableProducts: [] },
    });
  });

  it('A created reserved coupon has an entry with its secret code', async () => {
    const couponCode = newName('R');
    const { reservedCoupon } = await api.staff.createReservedCoupon({
      coupon: { couponCode, flatDiscount: 5, applicableProducts: { ids: [3] } },
    });
    const [entry] = await entriesOf(api, 'reserved_coupon', reservedCoupon?.id ?? 0);
    expect(entry?.after).toMatchObject({
      ...{ secretCode: couponCode, couponCode, flatDiscount: '5', applicableProducts: [3] },
    });
  });

  it('Update shows the fields that differ, also of those that it takes away', async () => {
    const id = await addCoupon(api.sql);
    const update = (coupon: object) => api.staff.update({ id, updates: { coupon } });
    await expectChange(api, ['coupon', id], () => update({ minOrder: 5, validTill: '2031-01-01' }), {
      before: {},
      after: { minOrder: '5', validTill: '2031-01-01T00:00:00Z' },
    });
    await expectChange(api, ['coupon', id], () => update({ validTill: '', applicableUsers: { ids: [3, 2] } }), {
      before: { validTill: '2031-01-01T00:00:00Z', applicableUsers: [1] },
      after: { applicableUsers: [2, 3] },
    });
  });

  it('A coupon for a phone number leaves an entry for the user whom it creates, and none for one who exists', async () => {
    const mobile = '6500000001';
    const { coupon } = await api.staff.createCoupon({ mobile });
    const [user, ...others] = await entriesOf(api, 'user', coupon?.userId ?? 0);
    expect([user?.before, user?.after, others]).toEqual([undefined, { mobile }, []]);
    await api.staff.createCoupon({ mobile });
    expect(await entriesOf(api, 'user', coupon?.userId ?? 0)).toEqual([user]);
  });

  it('Update without updates leaves no entry', async () => {
    const id = await addCoupon(api.sql);
    await api.staff.update({ id });
    expect(await entriesOf(api, 'coupon', id)).toEqual([]);
  });

  it('A caller without a staff identity leaves an entry with its subject', async () => {
    const id = await addCoupon(api.sql);
    await api.guest.delete({ id });
    const [entry] = await entriesOf(api, 'coupon', id);
    expect([entry?.subject, entry?.staffId]).toEqual(['tester', undefined]);
  });
});
