import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { beforeEach, expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import type { UpdateSlotsRequestSchema } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, expectInvalidField, planContract } from '../../support/contract.ts';
import { holding } from '../../support/locks.ts';

type Change = NonNullable<MessageInitShape<typeof UpdateSlotsRequestSchema>['change']>;
const full: Change = { case: 'isCapacityFull', value: true };
const inactive: Change = { case: 'isActive', value: false };

planContract('UpdateSlots', (api) => {
  const states = () =>
    api.sql<{ id: number; etag: string; is_active: boolean; is_capacity_full: boolean }>(
      'select id, etag, is_active, is_capacity_full from slots order by id',
    );
  const etagOf = async (id: number) => (await states()).find((slot) => slot.id === id)?.etag ?? '';
  const slotsOf = (...ids: number[]) => ids.map((id) => ({ id }));
  const entriesOf = async (requestId: string) => {
    const audit = createClient(AuditService, api.transportAs('staff'));
    const { entries } = await audit.listEntries({ procedure: 'slot.v1.SlotPlanService/UpdateSlots' });
    return entries
      .filter((entry) => entry.requestId === requestId)
      .map(({ resourceId, before, after }) => ({ resourceId, before, after }))
      .toSorted((left, right) => left.resourceId - right.resourceId);
  };

  beforeEach(async () => {
    await api.sql(`delete from vendor_snippets; delete from product_slots; delete from slots;
      insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full)
        select id, '2090-05-01Z', '2090-04-30Z', id <> 3, id = 4 from generate_series(1, 5) id;
      insert into product_slots select id, 7 from slots`);
  });

  it.each<[Change, Record<number, object>]>([
    [full, { 1: { is_capacity_full: true }, 4: { is_capacity_full: true } }],
    [
      { case: 'isCapacityFull', value: false },
      { 1: { is_capacity_full: false }, 4: { is_capacity_full: false } },
    ],
    [inactive, { 1: { is_active: false, is_capacity_full: false }, 4: { is_active: false, is_capacity_full: true } }],
    [
      { case: 'isActive', value: true },
      { 3: { is_active: true }, 4: { is_active: true } },
    ],
  ])('%j changes the given slots, and no others', async (change, expected) => {
    const before = await states();
    const ids = Object.keys(expected).map(Number);
    await api.staff.updateSlots({ slots: slotsOf(...ids), change });
    for (const slot of await states()) {
      if (ids.includes(slot.id)) expect(slot).toMatchObject(expected[slot.id] ?? {});
      else expect(slot).toEqual(before.find(({ id }) => id === slot.id));
    }
  });

  it('The answer has the slots in the order asked, with their new etags, and how many changed', async () => {
    const before = await etagOf(4);
    const { slots, changed: count } = await api.staff.updateSlots({ slots: slotsOf(5, 4, 1), change: full });
    expect(count).toBe(2);
    expect(slots.map(({ id, etag }) => [id, etag])).toEqual([
      [5, await etagOf(5)],
      [4, before],
      [1, await etagOf(1)],
    ]);
    expect((await createClient(SlotService, api.transportAs('staff')).getSlotById({ id: 5 })).slot?.etag).toBe(
      slots[0]?.etag,
    );
  });

  it('Etags of some of the slots guard them, and an empty one guards nothing', async () => {
    const slots = [{ id: 2 }, { id: 1, etag: await etagOf(1) }];
    expect((await api.staff.updateSlots({ slots, change: full })).changed).toBe(2);
    await expectError(api.staff.updateSlots({ slots, change: inactive }), 'ETAG_MISMATCH');
  });

  it('Outdated etags are named, and nothing is written', async () => {
    const before = await states();
    const slots = [
      { id: 5, etag: 'another' },
      { id: 1, etag: await etagOf(1) },
      { id: 2 },
      { id: 4, etag: await etagOf(1) },
    ];
    const { metadata } = await expectError(api.staff.updateSlots({ slots, change: full }), 'ETAG_MISMATCH');
    expect(metadata.slotIds).toBe('5,4');
    expect(await states()).toEqual(before);
  });

  it('Slots that do not exist are named before outdated etags, and nothing is written', async () => {
    const before = await states();
    const slots = [{ id: 99 }, { id: 1, etag: 'another' }, { id: 2 }, { id: 0, etag: 'another' }];
    const { metadata } = await expectError(api.staff.updateSlots({ slots, change: full }), 'SLOT_NOT_FOUND');
    expect(metadata.slotIds).toBe('99,0');
    expect(await states()).toEqual(before);
  });

  it('Each slot that changed has an entry, and no other', async () => {
    const headers = { 'x-request-id': 'update-slots' };
    await api.staff.updateSlots({ slots: slotsOf(4, 2, 1), change: full }, { headers });
    const expected = { before: { isCapacityFull: false }, after: { isCapacityFull: true } };
    expect(await entriesOf(headers['x-request-id'])).toEqual([
      { resourceId: 1, ...expected },
      { resourceId: 2, ...expected },
    ]);
  });

  it('500 slots are taken, and more refused', async () => {
    await api.sql(
      `insert into slots (id, delivery_time, freeze_time) select id, '2030-05-01Z', '2030-05-01Z' from generate_series(6, 501) id`,
    );
    const ids = Array.from({ length: 501 }, (_, index) => index + 1);
    expect((await api.staff.updateSlots({ slots: slotsOf(...ids.slice(0, 500)), change: full })).changed).toBe(499);
    await expectInvalidField(api.staff.updateSlots({ slots: slotsOf(...ids), change: full }), 'slots');
  });

  it.each<[string, MessageInitShape<typeof UpdateSlotsRequestSchema>]>([
    ['slots', { slots: [], change: full }],
    ['slots[2].id', { slots: slotsOf(1, 2, 1), change: full }],
    ['slots[0].etag', { slots: [{ id: 1, etag: 'x'.repeat(129) }], change: full }],
    ['change', { slots: slotsOf(1) }],
  ])('Another %s is refused', async (field, request) => {
    const before = await states();
    await expectInvalidField(api.staff.updateSlots(request), field);
    expect(await states()).toEqual(before);
  });

  it('Of eight writers with the same etags exactly one succeeds, for all slots', async () => {
    const slots = (await states()).filter(({ id }) => id !== 4).map(({ id, etag }) => ({ id, etag }));
    const ends = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) =>
        api.staff.updateSlots({ slots: n % 2 ? slots : slots.toReversed(), change: full }),
      ),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('Of calls that change the capacities of many slots at once, only one has locked any', async () => {
    const lockLast = `select pg_advisory_xact_lock(hashtext(own_name('units of a slot')), 5)`;
    const held = `select from pg_locks where locktype = 'advisory' and granted and objid in (1, 2, 3) and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())`;
    const waiting = `select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`;
    await holding(api.databaseUrl, lockLast, async (lock) => {
      const updating = [1, 2, 3].map((id) =>
        api.staff.updateSlots({ slots: slotsOf(id, 5), change: { case: 'capacity', value: 8 } }),
      );
      await expect.poll(() => api.sql(waiting)).toHaveLength(3);
      expect(await api.sql(held)).toHaveLength(1);
      await lock.release();
      await Promise.all(updating);
    });
  });
});
