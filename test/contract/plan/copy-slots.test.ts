import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { OnTaken, type SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, expectInvalidField, planContract } from '../../support/contract.ts';

type Asked = MessageInitShape<typeof SlotPlanService.method.copySlots.input>;

planContract('CopySlots', (api) => {
  interface Stored {
    readonly isActive?: boolean;
    readonly isFull?: boolean;
    readonly groupIds?: readonly number[];
    readonly freeze?: string;
    readonly productIds?: readonly number[];
    /** By code: the ids of the products, and the end as text. */
    readonly snippets?: Readonly<Record<string, readonly (number | string)[]>>;
  }
  const add = async (id: number, delivery: string, stored: Stored = {}) => {
    const {
      isActive = true,
      isFull = false,
      groupIds = [],
      freeze = delivery,
      productIds = [],
      snippets = {},
    } = stored;
    await api.sql(
      `insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full, group_ids, delivery_sequence)
       values ($1, $2, $3, $4, $5, $6, '{"1": [1]}')`,
      [id, delivery, freeze, isActive, isFull, `{${groupIds.join()}}`],
    );
    await api.sql('insert into product_slots select $1, unnest($2::integer[])', [id, productIds]);
    for (const [code, given] of Object.entries(snippets)) {
      const [ids, validTill] = [given.filter(Number), given.find((each) => typeof each === 'string')];
      await api.sql(
        'insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till) values ($1, $2, $3, $4)',
        [...[id, code, ids, validTill ?? null]],
      );
    }
  };
  /** The copies in short: source, delivery time, id of the copy, what takes it. */
  const copy = async (asked: Asked) => {
    const { copies, ...counts } = await api.staff.copySlots(asked);
    return {
      ...counts,
      copies: copies.map(({ sourceSlotId, slot, isAdjusted, takenBySlotId }) => ({
        ...{ source: sourceSlotId, id: slot?.id, isAdjusted, takenBy: takenBySlotId },
        at: slot?.deliveryTime && timestampDate(slot.deliveryTime).toISOString().replace('.000Z', 'Z'),
      })),
    };
  };
  const timesOf = async (asked: Asked) => (await copy(asked)).copies.map(({ at }) => at);
  const everything = async () => ({
    slots: await api.sql('select id, etag from slots order by id'),
    products: await api.sql('select * from product_slots order by slot_id, product_id'),
    snippets: await api.sql('select * from vendor_snippets order by id'),
    entries: await api.sql('select count(*) from audit_entries'),
  });

  /** What a call answers, and the headers that it came with. */
  const withHeaders = async (asked: Asked) => {
    let headers = new Headers();
    const onHeader = (received: Headers) => {
      headers = received;
    };
    return { answer: await api.staff.copySlots(asked, { onHeader }), headers };
  };

  beforeEach(async () => {
    await api.sql(`delete from vendor_snippets; delete from product_slots; delete from slots;
      select setval('slots_id_seq', 1000, false);
      insert into products (id, name) select id, 'Product ' || id from generate_series(1, 5) id on conflict do nothing`);
  });

  it('A copy has the products, groups and times of its source, is active, and has neither its sequence nor its flag', async () => {
    await add(1, '2030-05-01T10:00:00.250Z', {
      ...{ isActive: false, isFull: true, groupIds: [7, 3], freeze: '2030-04-30T22:15:00Z', productIds: [4, 2, 9999] },
    });
    const { copies, created, skipped, snippetsLeftOut } = await api.staff.copySlots({ slotIds: [1], shiftDays: 7 });
    expect({ created, skipped, snippetsLeftOut }).toEqual({ created: 1, skipped: 0, snippetsLeftOut: 0 });
    const [made, ...more] = copies;
    expect(more).toEqual([]);
    expect(made).toMatchObject({ sourceSlotId: 1, isAdjusted: false, slot: { id: 1000, isActive: true } });
    expect(made?.takenBySlotId).toBeUndefined();
    const { slot } = await createClient(SlotService, api.transportAs('staff')).getSlotById({ id: 1000 });
    expect(slot?.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date('2030-05-08T10:00:00.250Z'));
    expect(slot?.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date('2030-05-07T22:15:00Z'));
    expect(slot).toMatchObject({ isActive: true, isCapacityFull: false, groupIds: [7, 3], deliverySequence: [] });
    expect(slot?.products.map(({ id }) => id)).toEqual([2, 4]);
    expect(slot?.productSlots.map(({ productId }) => productId)).toEqual([2, 4, 9999]);
    expect(made?.slot?.etag).toBe(slot?.etag);
    expect(made?.slot?.groupIds).toEqual([7, 3]);
    expect(made?.slot?.deliveryTime).toEqual(slot?.deliveryTime);
    expect(made?.slot?.freezeTime).toEqual(slot?.freezeTime);
  });

  describe('Sources', () => {
    it('Copies are in the order of the source’s time, its id and the days, whatever the order of the ids', async () => {
      await add(3, '2030-05-01T10:00Z', { groupIds: [1] });
      await add(1, '2030-05-02T10:00Z');
      await add(2, '2030-05-01T10:00Z', { groupIds: [2] });
      const { copies } = await copy({ slotIds: [1, 3, 2, 3], shiftDays: 7, repeat: 2 });
      expect(copies.map(({ source, id, at }) => [source, id, at])).toEqual([
        [2, 1000, '2030-05-08T10:00:00Z'],
        [2, 1001, '2030-05-15T10:00:00Z'],
        [3, 1002, '2030-05-08T10:00:00Z'],
        [3, 1003, '2030-05-15T10:00:00Z'],
        [1, 1004, '2030-05-09T10:00:00Z'],
        [1, 1005, '2030-05-16T10:00:00Z'],
      ]);
    });

    it('An interval has its active slots, from its start and before its end', async () => {
      await add(1, '2030-05-01T09:59:59.999999Z');
      await add(2, '2030-05-01T10:00Z');
      await add(3, '2030-05-01T11:00Z', { isActive: false });
      await add(4, '2030-05-01T11:59:59.999999Z', { isFull: true });
      await add(5, '2030-05-01T12:00Z');
      const interval = { deliveryFrom: '2030-05-01T15:30+05:30', deliveryUntil: '2030-05-01T12:00:00Z' };
      expect((await copy({ ...interval, shiftDays: 1 })).copies.map(({ source }) => source)).toEqual([2, 4]);
    });

    it.each(['2030-05-01T10:00Z', '2030-04-01'])('An interval until %s has no slots', async (deliveryUntil) => {
      await add(1, '2030-05-01T10:00Z');
      const before = await everything();
      const { answer, headers } = await withHeaders({ deliveryFrom: '2030-05-01T10:00Z', deliveryUntil, shiftDays: 1 });
      expect(answer).toMatchObject({ copies: [], created: 0, skipped: 0, snippetsLeftOut: 0 });
      expect(headers.get('store-request-id')).toBeNull();
      expect(await everything()).toEqual(before);
    });

    const day = { deliveryFrom: '2030-05-01', deliveryUntil: '2030-05-02' };
    it.each<[string, Asked]>([
      ['slot_ids', { shiftDays: 1 }],
      ['slot_ids', { shiftDays: 1, deliveryFrom: '', deliveryUntil: '' }],
      ['slot_ids', { shiftDays: 1, slotIds: [1], ...day }],
      ['slot_ids', { shiftDays: 1, slotIds: [1], deliveryUntil: '2030-05-02' }],
      ['slot_ids', { shiftDays: 1, slotIds: Array.from({ length: 501 }, (_, index) => index) }],
      ['delivery_until', { shiftDays: 1, deliveryFrom: '2030-05-01' }],
      ['delivery_from', { shiftDays: 1, deliveryUntil: '2030-05-01' }],
      ['delivery_from', { shiftDays: 1, ...day, deliveryFrom: 'tomorrow' }],
      ['delivery_until', { shiftDays: 1, ...day, deliveryUntil: '2030-02-31' }],
      ['shift_days', { ...day }],
      ['shift_days', { ...day, shiftDays: 367 }],
      ['shift_days', { ...day, shiftDays: -1 }],
      ['repeat', { ...day, shiftDays: 1, repeat: 53 }],
      ['repeat', { ...day, shiftDays: 1, repeat: -1 }],
      ['time_zone', { ...day, shiftDays: 1, timeZone: 'Europe/Atlantis' }],
      ['time_zone', { ...day, shiftDays: 1, timeZone: '+05:30' }],
      ['time_zone', { ...day, shiftDays: 1, timeZone: 'UTC+1' }],
      ['time_zone', { ...day, shiftDays: 1, timeZone: 'CET-1CEST,M3.5.0,M10.5.0/3' }],
      ['time_zone', { ...day, shiftDays: 1, timeZone: ' UTC' }],
      ['snippet_name', { ...day, shiftDays: 1, snippetName: 'é'.repeat(129) }],
      ['snippet_name', { ...day, shiftDays: 1, snippetName: '{name} ' }],
      ['snippet_name', { ...day, shiftDays: 1, snippetName: '{name}\u200b' }],
      ['on_taken', { ...day, shiftDays: 1, onTaken: 3 as number }],
    ])('Another %s is refused: %j', async (field, asked) => {
      await expectInvalidField(api.staff.copySlots(asked), field);
    });

    it('A slot that does not exist is not found, and nothing is copied', async () => {
      await add(1, '2030-05-01T10:00Z');
      const before = await everything();
      const { metadata } = await expectError(
        api.staff.copySlots({ slotIds: [3, 1, 2], shiftDays: 1 }),
        'SLOT_NOT_FOUND',
      );
      expect(metadata.slotIds).toBe('3,2');
      expect(await everything()).toEqual(before);
    });

    it('A call makes 1,000 copies, and refuses more, taken ones counted', async () => {
      await api.sql(`insert into slots (id, delivery_time, freeze_time)
        select id, timestamptz '2030-05-01Z' + id * interval '1 minute', '2030-05-01Z' from generate_series(1, 501) id`);
      const slotIds = Array.from({ length: 500 }, (_, index) => index + 1);
      expect(await copy({ slotIds, shiftDays: 1, repeat: 2 })).toMatchObject({ created: 1_000, skipped: 0 });
      const before = await everything();
      await expectInvalidField(api.staff.copySlots({ slotIds, shiftDays: 1, repeat: 3 }), 'slot_ids');
      const interval = { deliveryFrom: '2030-05-01', deliveryUntil: '2030-05-02', shiftDays: 1 };
      await expectInvalidField(api.staff.copySlots({ ...interval, repeat: 2 }), 'delivery_until');
      expect(await everything()).toEqual(before);
    });

    it('Copies beyond the year 9999 are refused', async () => {
      await add(1, '9999-12-24T23:59:59.999Z');
      await add(2, '2030-05-01T10:00Z', { freeze: '9999-12-25Z' });
      await add(3, '2030-05-01T10:00Z', { snippets: { late: [1, '9999-12-25Z'] } });
      expect(await timesOf({ slotIds: [1], shiftDays: 7 })).toEqual(['9999-12-31T23:59:59.999Z']);
      const before = await everything();
      for (const slotIds of [[1], [2]])
        await expectInvalidField(api.staff.copySlots({ slotIds, shiftDays: 8 }), 'shift_days');
      await expectInvalidField(
        api.staff.copySlots({ slotIds: [3], shiftDays: 7, snippetName: '{name} {date}' }),
        'shift_days',
      );
      expect(await everything()).toEqual(before);
      expect(await copy({ slotIds: [3], shiftDays: 7 })).toMatchObject({ created: 1, snippetsLeftOut: 1 });
    });
  });

  describe('Snippets', () => {
    const snippetsOf = (slotId: number) =>
      api.sql(
        'select snippet_code, product_ids, valid_till from vendor_snippets where slot_id = $1 order by snippet_code',
        [slotId],
      );

    it('Each snippet is created under the name of the template, with its products, and its end moved likewise', async () => {
      await add(1, '2030-05-01T23:30:00Z', {
        snippets: { b: [2, 1, '2030-05-01T10:00:00.123Z'], a: [3] },
      });
      const asked = { slotIds: [1], shiftDays: 7, repeat: 2, timeZone: 'Europe/Berlin', snippetName: '{date}: {name}' };
      expect(await copy(asked)).toMatchObject({ created: 2, snippetsLeftOut: 0 });
      expect(await snippetsOf(1000)).toEqual([
        { snippet_code: '2030-05-09: a', product_ids: [3], valid_till: null },
        { snippet_code: '2030-05-09: b', product_ids: [2, 1], valid_till: new Date('2030-05-08T10:00:00.123Z') },
      ]);
      expect((await snippetsOf(1001)).map(({ snippet_code }) => snippet_code)).toEqual([
        '2030-05-16: a',
        '2030-05-16: b',
      ]);
      expect(await snippetsOf(1)).toHaveLength(2);
    });

    it.each([
      ['{name} {name} {date}', '{date} {date} 2030-05-02'],
      ['100 %s %1$s {name}', '100 %s %1$s {date}'],
      ['{Name} {na{date}me} {date', '{Name} {na2030-05-02me} {date'],
      ['e\u0301 {date}', 'é 2030-05-02'],
    ])('The template %s is expanded once, and other text stands as it is', async (snippetName, expected) => {
      await add(1, '2030-05-01T10:00Z', { snippets: { '{date}': [1] } });
      await copy({ slotIds: [1], shiftDays: 1, snippetName });
      expect((await snippetsOf(1000)).map(({ snippet_code }) => snippet_code)).toEqual([expected]);
    });

    it('A name has 128 characters at most', async () => {
      await add(1, '2030-05-01T10:00Z', { snippets: { ['💥'.repeat(117)]: [1] } });
      const before = await everything();
      await expectInvalidField(
        api.staff.copySlots({ slotIds: [1], shiftDays: 1, snippetName: '{name} {date}a' }),
        'snippet_name',
      );
      expect(await everything()).toEqual(before);
      expect(await copy({ slotIds: [1], shiftDays: 1, snippetName: '{name} {date}' })).toMatchObject({ created: 1 });
    });

    it('Without a template, the snippets of the made copies are counted and left out', async () => {
      await add(1, '2030-05-01T10:00Z', {
        snippets: { a: [1], b: [1] },
      });
      await add(2, '2030-05-02T10:00Z', { snippets: { c: [1] } });
      expect(await copy({ slotIds: [1, 2], shiftDays: 1 })).toMatchObject({
        created: 1,
        skipped: 1,
        snippetsLeftOut: 1,
      });
      expect(await snippetsOf(1000)).toEqual([]);
    });

    const invalid = (name: string) =>
      ({
        code: 'InvalidArgument',
        message: `One or more invalid product IDs in snippet "${name}"`,
        reason: 'SNIPPET_PRODUCTS_INVALID',
      }) as const;
    const nameTaken = (name: string) =>
      ({
        code: 'AlreadyExists',
        message: `Snippet name "${name}" already exists`,
        reason: 'SNIPPET_NAME_TAKEN',
      }) as const;

    it('A name that is taken fails the call, and nothing is copied', async () => {
      await add(1, '2030-05-01T10:00Z', {
        snippets: { b: [1], a: [1] },
      });
      await add(2, '2030-05-08T10:00Z', { isActive: false, snippets: { 'a 2030-05-08': [1] } });
      const before = await everything();
      for (const dryRun of [true, false]) {
        const asked = { slotIds: [1], shiftDays: 7, snippetName: '{name} {date}', dryRun };
        await expectError(api.staff.copySlots(asked), nameTaken('a 2030-05-08'));
        await expectError(api.staff.copySlots({ ...asked, snippetName: '{name}' }), nameTaken('b'));
        await expectError(api.staff.copySlots({ ...asked, snippetName: 'same' }), nameTaken('same'));
        await expectError(
          api.staff.copySlots({ ...asked, snippetName: '{name} again', repeat: 2 }),
          nameTaken('b again'),
        );
      }
      expect(await everything()).toEqual(before);
    });

    it('Products that do not exist fail the call before a name that is taken, in the order of the copies', async () => {
      await add(1, '2030-05-01T10:00Z', {
        snippets: { b: [1], a: [1, 9999], c: [9998] },
      });
      const copied = (snippetName: string) => api.staff.copySlots({ slotIds: [1], shiftDays: 7, snippetName });
      await expectError(copied('{name} {date}'), invalid('a 2030-05-08'));
      await expectError(copied('same'), invalid('same'));
      await expectError(copied('{name}'), nameTaken('b'));
    });

    it('Snippets of a copy that is left out are not checked', async () => {
      await add(1, '2030-05-01T10:00Z', { snippets: { a: [9999] } });
      await add(2, '2030-05-02T10:00Z');
      const answer = await copy({ slotIds: [1], shiftDays: 1, snippetName: '{name}' });
      expect(answer).toMatchObject({ created: 0, skipped: 1, snippetsLeftOut: 0 });
    });
  });

  describe('Taken times', () => {
    it.each<[string, readonly number[], readonly number[], boolean]>([
      ['neither has groups', [], [], true],
      ['a group is in common', [1, 2], [2, 3], true],
      ['no group is in common', [1, 2], [3], false],
      ['only the copy has groups', [1], [], false],
      ['only the other has groups', [], [1], false],
    ])('A copy at the time of an active slot, where %s', async (_name, ofSource, ofOther, isTaken) => {
      await add(1, '2030-05-01T10:00Z', { groupIds: ofSource });
      await add(5, '2030-05-08T10:00Z', { groupIds: ofOther });
      await add(4, '2030-05-08T10:00Z', { groupIds: ofOther });
      await add(3, '2030-05-08T10:00Z', { groupIds: ofOther, isActive: false });
      await add(2, '2030-05-08T10:00:00.001Z', { groupIds: ofOther });
      const { copies, created, skipped } = await copy({ slotIds: [1], shiftDays: 7 });
      expect({ created, skipped, takenBy: copies[0]?.takenBy, id: copies[0]?.id }).toEqual(
        isTaken
          ? { created: 0, skipped: 1, takenBy: 4, id: 0 }
          : { created: 1, skipped: 0, takenBy: undefined, id: 1000 },
      );
    });

    it('A copy is taken by one that the call made before, but not by one that it left out', async () => {
      await add(1, '2030-05-01T10:00Z', { groupIds: [1] });
      await add(2, '2030-05-01T10:00Z', { groupIds: [1, 2] });
      await add(3, '2030-05-01T10:00Z', { groupIds: [2] });
      await add(4, '2030-05-01T10:00Z', { groupIds: [1, 2] });
      const asked = { slotIds: [1, 2, 3, 4], shiftDays: 7 };
      const takers = async (dryRun: boolean) =>
        (await copy({ ...asked, dryRun })).copies.map(({ id, takenBy }) => takenBy ?? `made ${id}`);
      expect(await takers(true)).toEqual(['made 0', 0, 'made 0', 0]);
      expect(await takers(false)).toEqual(['made 1000', 1000, 'made 1001', 1000]);
      expect(await takers(false)).toEqual([1000, 1000, 1001, 1000]);
    });

    it('A copy of a later source is taken by an earlier copy of the same call', async () => {
      await add(1, '2030-05-01T10:00Z');
      await add(2, '2030-05-02T10:00Z');
      const { copies } = await copy({ slotIds: [1, 2], shiftDays: 1, repeat: 2 });
      expect(copies.map(({ id, takenBy }) => takenBy ?? `made ${id}`)).toEqual([2, 'made 1000', 1000, 'made 1001']);
    });

    it('The lowest id is named, that of a copy too', async () => {
      await add(1, '2030-05-01T10:00Z', { groupIds: [1] });
      await add(2, '2030-05-01T10:00Z', { groupIds: [1, 2] });
      await add(5000, '2030-05-02T10:00Z', { groupIds: [2] });
      expect((await copy({ slotIds: [1, 2], shiftDays: 1, dryRun: true })).copies[1]?.takenBy).toBe(5000);
      expect((await copy({ slotIds: [1, 2], shiftDays: 1 })).copies[1]?.takenBy).toBe(1000);
    });

    it('ON_TAKEN_FAIL names the sources of all copies that are taken, and nothing is copied', async () => {
      for (const [day, id] of Object.entries({ '01': 4, '02': 2, '03': 3, '08': 9, '10': 8, '17': 7 })) {
        await add(id, `2030-05-${day}T10:00Z`);
      }
      const asked = { slotIds: [2, 3, 4], shiftDays: 7, repeat: 2, onTaken: OnTaken.FAIL };
      const before = await everything();
      for (const dryRun of [true, false]) {
        const { metadata } = await expectError(api.staff.copySlots({ ...asked, dryRun }), 'SLOT_TAKEN');
        expect(metadata.slotIds).toBe('4,3');
      }
      expect(await everything()).toEqual(before);
      expect(await copy({ ...asked, slotIds: [2] })).toMatchObject({ created: 2, skipped: 0 });
    });
  });

  it('A dry run answers the same and writes nothing', async () => {
    await add(1, '2030-05-01T10:00Z', { productIds: [1], snippets: { a: [1] } });
    await add(2, '2030-05-02T10:00Z', { groupIds: [1] });
    await add(3, '2030-05-02T10:00Z', { groupIds: [1] });
    await add(4, '2030-05-08T10:00Z', { isActive: false });
    await add(5, '2030-05-09T10:00Z', { groupIds: [1] });
    const asked = {
      ...{ deliveryFrom: '2030-05-01', deliveryUntil: '2030-05-03', shiftDays: 7, snippetName: '{name} {date}' },
    };
    const before = await everything();
    const { answer: dry, headers } = await withHeaders({ ...asked, dryRun: true });
    expect(await everything()).toEqual(before);
    expect(headers.get('store-request-id')).toBeNull();
    const wet = await api.staff.copySlots(asked);
    expect(dry.created).toBe(1);
    const withoutIds = ({ copies, ...counts }: typeof wet) => ({
      ...counts,
      copies: copies.map(({ slot, ...rest }) => ({ ...rest, slot: { ...slot, id: 0, etag: '' } })),
    });
    expect(dry).toEqual(withoutIds(wet));
  });

  describe('The wall clock', () => {
    it('Times move by days of the wall clock in the given zone, links taken, else of the business', async () => {
      await add(1, '2026-10-24T08:00:00Z', { freeze: '2026-10-23T22:00:00Z' });
      const asked = { slotIds: [1], shiftDays: 1, dryRun: true };
      for (const timeZone of ['Europe/Berlin', 'europe/berlin']) {
        expect(await timesOf({ ...asked, timeZone })).toEqual(['2026-10-25T09:00:00Z']);
      }
      expect(await timesOf({ ...asked, timeZone: 'Asia/Calcutta' })).toEqual(['2026-10-25T08:00:00Z']);
      expect(await timesOf(asked)).toEqual(['2026-10-25T08:00:00Z']);
    });

    it('is_adjusted says that the zone skips or repeats the time of the delivery, the freeze or a copied snippet', async () => {
      const zone = { shiftDays: 1, dryRun: true, timeZone: 'Europe/Berlin', snippetName: '{name} {date}' };
      await add(1, '2026-03-28T01:30:00Z', { freeze: '2026-03-28T00:00Z' });
      await add(2, '2026-03-28T05:00:00Z', { freeze: '2026-03-28T01:30:00Z' });
      await add(3, '2026-03-28T06:00:00Z', { snippets: { a: [1, '2026-03-28T01:30:00Z'] } });
      await add(4, '2026-03-28T07:00:00Z', { snippets: { b: [1, '2026-03-28T03:30:00Z'] } });
      await add(5, '2026-10-24T00:30:00Z');
      const { copies } = await copy({ ...zone, slotIds: [1, 2, 3, 4, 5] });
      expect(copies.map(({ source, isAdjusted, at }) => [source, isAdjusted, at])).toEqual([
        [1, true, '2026-03-29T01:30:00Z'],
        [2, true, '2026-03-29T04:00:00Z'],
        [3, true, '2026-03-29T05:00:00Z'],
        [4, false, '2026-03-29T06:00:00Z'],
        [5, true, '2026-10-25T00:30:00Z'],
      ]);
      // Its snippet is not copied.
      expect((await copy({ ...zone, slotIds: [3], snippetName: '' })).copies[0]?.isAdjusted).toBe(false);
    });
  });

  it('Each copy has an entry with all its fields, as if it was created', async () => {
    await add(1, '2030-05-01T10:00Z', {
      ...{ groupIds: [9, 2], freeze: '2030-05-01T06:30:00.250Z', productIds: [3, 777, 1] },
      snippets: { b: [2, 1, '2031-01-01Z'], a: [1] },
    });
    await api.sql(
      'insert into slots (id, delivery_time, freeze_time, group_ids) select 2, delivery_time, freeze_time, array(select generate_series(200, 100, -1)) from slots',
    );
    await api.sql('insert into product_slots select 2, n from generate_series(1, 101) n');
    const { headers } = await withHeaders({ slotIds: [1, 2], shiftDays: 1, snippetName: '{name}!' });
    const audit = createClient(AuditService, api.transportAs('staff'));
    const { entries: all } = await audit.listEntries({ procedure: 'slot.v1.SlotPlanService/CopySlots' });
    const entries = all.filter(({ requestId }) => requestId === headers.get('x-request-id'));
    expect(entries.map(({ resourceId }) => resourceId)).toEqual([1001, 1000]);
    const times = { deliveryTime: '2030-05-02T10:00:00Z', freezeTime: '2030-05-02T06:30:00.250Z' };
    const common = { ...times, isActive: true, isCapacityFull: false, deliverySequence: {} };
    expect(entries[1]?.before).toBeUndefined();
    expect(entries[1]?.after).toEqual({
      ...common,
      groupIds: [9, 2],
      productIds: [1, 3, 777],
      vendorSnippets: [
        { snippetCode: 'a!', productIds: [1] },
        { snippetCode: 'b!', productIds: [2, 1], validTill: '2031-01-02T00:00:00Z' },
      ],
    });
    const hundredAndOne = (first: number) => Array.from({ length: 101 }, (_, index) => first + index);
    expect(entries[0]?.after).toEqual({
      ...common,
      groupIds: { added: hundredAndOne(100), removed: [] },
      productIds: { added: hundredAndOne(1), removed: [] },
      vendorSnippets: [],
    });
  });

  it('Products of a slot that did not exist do not become those of a copy', async () => {
    await add(1, '2030-05-01T10:00Z', { productIds: [3] });
    await api.sql('insert into product_slots values (1000, 3), (1000, 4)');
    await copy({ slotIds: [1], shiftDays: 1 });
    expect(await api.sql('select product_id from product_slots where slot_id = 1000')).toEqual([{ product_id: 3 }]);
  });
});
