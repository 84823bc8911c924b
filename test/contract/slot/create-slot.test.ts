import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { expectError, expectInvalidField, failureOf, slotContract } from '../../support/contract.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };

slotContract('CreateSlot', (api) => {
  it('A slot is stored with its times, and the response has the slot', async () => {
    const { slot, createdSnippets, message } = await api.staff.createSlot({ ...times, groupIds: [2, 99] });
    expect(message).toBe('Slot created successfully');
    expect(createdSnippets).toEqual([]);
    expect(slot).toMatchObject({ isActive: true, isCapacityFull: false, groupIds: [2, 99] });
    expect(slot?.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date(times.deliveryTime));
    expect(slot?.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date(times.freezeTime));
    expect(slot?.deliverySequence?.kind).toMatchObject({ case: 'structValue', value: {} });
  });

  it('A slot is inactive only when the request says so', async () => {
    const { slot } = await api.staff.createSlot({ ...times, isActive: false });
    expect(slot?.isActive).toBe(false);
  });

  it('Ids of products and groups are taken as sets, whether the records exist or not', async () => {
    const vendorSnippets = [{ name: 'repeats', productIds: [3, 1, 3] }];
    const given = { ...times, productIds: [3, 3, 777], groupIds: [2, 1, 2], vendorSnippets };
    const { slot, createdSnippets } = await api.staff.createSlot(given);
    const rows = await api.sql('select product_id from product_slots where slot_id = $1 order by 1', [slot?.id]);
    expect(rows).toEqual([{ product_id: 3 }, { product_id: 777 }]);
    expect(slot?.groupIds.toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(createdSnippets[0]?.productIds.toSorted((a, b) => a - b)).toEqual([1, 3]);
  });

  it.each([0, 5_000])('A slot of %i groups has the size that an update would measure', async (count) => {
    const { slot } = await api.staff.createSlot({ ...times, groupIds: Array.from({ length: count }, (_, id) => id) });
    const size = async () => {
      const [row] = await api.sql<{ shown_bytes: number }>('select shown_bytes from slots where id = $1', [slot?.id]);
      return row?.shown_bytes ?? 0;
    };
    const created = await size();
    await api.sql('update slots set delivery_time = delivery_time where id = $1', [slot?.id]);
    expect(Math.abs(created - (await size()))).toBeLessThan(64);
  });

  it('A time without a zone is UTC', async () => {
    const { slot } = await api.staff.createSlot({ deliveryTime: '2030-05-01T10:00', freezeTime: '2030-05-01' });
    expect(slot?.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date('2030-05-01T10:00:00Z'));
    expect(slot?.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date('2030-05-01T00:00:00Z'));
  });

  it('An empty date of a snippet counts as none, and a created snippet shows no access URL', async () => {
    const vendorSnippets = [{ name: 'dateless', productIds: [1], validTill: '' }];
    const { createdSnippets } = await api.staff.createSlot({ ...times, vendorSnippets });
    expect(createdSnippets).toHaveLength(1);
    expect(createdSnippets[0]?.validTill).toBeUndefined();
    expect(createdSnippets[0]?.accessUrl).toBeUndefined();
  });

  it('Snippets are created in the order of the request', async () => {
    const { slot, createdSnippets } = await api.staff.createSlot({
      ...times,
      vendorSnippets: [
        { name: 'zebra', productIds: [1, 2], validTill: '2030-06-01' },
        { name: 'apple', productIds: [2] },
      ],
    });
    expect(createdSnippets).toMatchObject([
      { snippetCode: 'zebra', slotId: slot?.id, productIds: [1, 2] },
      { snippetCode: 'apple', slotId: slot?.id, productIds: [2] },
    ]);
    const [zebra, apple] = createdSnippets;
    expect(apple?.validTill).toBeUndefined();
    expect(zebra?.validTill && timestampDate(zebra.validTill)).toEqual(new Date('2030-06-01T00:00:00Z'));
  });

  it.each([{ ...times, deliveryTime: '' }, { ...times, freezeTime: '' }, {}])(
    'A slot without both times is refused',
    async (request) => {
      await expectError(api.staff.createSlot(request), 'TIMES_REQUIRED');
    },
  );

  it('The error for a time that is no date names its field', async () => {
    await expectInvalidField(api.staff.createSlot({ ...times, deliveryTime: 'soon' }), 'delivery_time');
    await expectInvalidField(api.staff.createSlot({ ...times, freezeTime: '2026-02-31' }), 'freeze_time');
  });

  it('A snippet name that is taken is refused, also when the same request has it twice', async () => {
    await api.staff.createSlot({ ...times, vendorSnippets: [{ name: 'taken', productIds: [1] }] });
    const expected = {
      code: 'AlreadyExists',
      message: 'Snippet name "taken" already exists',
      reason: 'SNIPPET_NAME_TAKEN',
    } as const;
    const again = [{ name: 'taken', productIds: [1] }];
    await expectError(api.staff.createSlot({ ...times, vendorSnippets: again }), expected);
    const twice = [1, 2].map((id) => ({ name: 'twice', productIds: [id] }));
    await expectError(api.staff.createSlot({ ...times, vendorSnippets: twice }), {
      ...expected,
      message: 'Snippet name "twice" already exists',
    });
  });

  it('Snippets are checked in their order, and in each the products before the name', async () => {
    await api.staff.createSlot({ ...times, vendorSnippets: [{ name: 'first-come', productIds: [1] }] });
    const taken = { name: 'first-come', productIds: [1] };
    const unknown = { name: 'unknown', productIds: [999] };
    const both = { name: 'first-come', productIds: [999] };
    const failing = async (vendorSnippets: { name: string; productIds: number[] }[]) =>
      (await failureOf(api.staff.createSlot({ ...times, vendorSnippets }))).rawMessage;
    expect(await failing([taken, unknown])).toBe('Snippet name "first-come" already exists');
    expect(await failing([unknown, taken])).toBe('One or more invalid product IDs in snippet "unknown"');
    expect(await failing([both])).toBe('One or more invalid product IDs in snippet "first-come"');
  });

  it.each([
    ['a name', { name: '', productIds: [1] }, 'vendor_snippets[0].name'],
    ['a short name', { name: 'x'.repeat(129), productIds: [1] }, 'vendor_snippets[0].name'],
    ['a name without NUL', { name: 'a\0b', productIds: [1] }, 'vendor_snippets[0].name'],
    ['a name without white space at its ends', { name: 'late ', productIds: [1] }, 'vendor_snippets[0].name'],
    ['a name that shows', { name: '\u2800', productIds: [1] }, 'vendor_snippets[0].name'],
    ['products', { name: 'none', productIds: [] }, 'vendor_snippets[0].product_ids'],
    ['positive product ids', { name: 'zero', productIds: [1, 0] }, 'vendor_snippets[0].product_ids[1]'],
    ['a date that exists', { name: 'late', productIds: [1], validTill: 'never' }, 'vendor_snippets[0].valid_till'],
  ])('A snippet must have %s', async (_rule, snippet, field) => {
    await expectInvalidField(api.staff.createSlot({ ...times, vendorSnippets: [snippet] }), field);
  });

  it('A snippet name is stored in NFC, and is taken in any form of it', async () => {
    const named = (name: string) => ({ ...times, vendorSnippets: [{ name, productIds: [1] }] });
    const { createdSnippets } = await api.staff.createSlot(named('cafe\u0301'));
    expect(createdSnippets.map(({ snippetCode }) => snippetCode)).toEqual(['caf\u00e9']);
    const again = await failureOf(api.staff.createSlot(named('caf\u00e9')));
    expect(again.rawMessage).toBe('Snippet name "caf\u00e9" already exists');
  });

  it('A new slot has only its own products, whatever was associated with its id before', async () => {
    const { slot: before } = await api.staff.createSlot(times);
    const next = (before?.id ?? 0) + 1;
    await api.staff.updateSlotProducts({ slotId: next, productIds: [1, 2] });
    const { slot } = await api.staff.createSlot({ ...times, productIds: [1, 3] });
    expect(slot?.id).toBe(next);
    const rows = await api.sql('select product_id from product_slots where slot_id = $1 order by 1', [next]);
    expect(rows).toEqual([{ product_id: 1 }, { product_id: 3 }]);
  });

  it('A request with a great many faults is refused soon, and with a short message', async () => {
    const vendorSnippets = Array.from({ length: 20_000 }, () => ({ name: '', productIds: [] }));
    const error = await failureOf(api.staff.createSlot({ ...times, vendorSnippets }, { timeoutMs: 5_000 }));
    expect(error.rawMessage).toContain('vendor_snippets[0].name');
    await api.staff.getSlots({});
  });
});
