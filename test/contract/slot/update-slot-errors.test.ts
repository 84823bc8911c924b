import { expect, it } from 'vitest';
import { expectError, expectInvalidField, failureOf, slotContract } from '../../support/contract.ts';
import { addSlotOf } from '../../support/slots.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };

slotContract('Failures of UpdateSlot', (api) => {
  const addSlot = () => addSlotOf(api.sql, { is_active: false, group_ids: [5] }, [1, 2]);
  const everything = async (id: number) => ({
    slot: await api.sql('select * from slots where id = $1', [id]),
    products: await api.sql('select product_id from product_slots where slot_id = $1 order by 1', [id]),
    snippets: await api.sql('select snippet_code from vendor_snippets where slot_id = $1', [id]),
  });
  const takeName = async (name: string) =>
    api.sql(`insert into vendor_snippets (snippet_code, slot_id, product_ids) values ($1, $2, '{1}')`, [
      name,
      await addSlot(),
    ]);
  /** A request that changes every field; each test adds what is wrong. */
  const changes = (id: number) => ({ id, ...times, groupIds: [1], productIds: { ids: [7] } });
  const snippet = (name: string, productIds: number[], validTill?: string) => ({ name, productIds, validTill });

  it.each<
    [
      message: string,
      wrong: { id?: number; deliveryTime?: string; freezeTime?: string; vendorSnippets?: ReturnType<typeof snippet>[] },
    ]
  >([
    ['delivery_time', { deliveryTime: 'soon' }],
    ['freeze_time', { freezeTime: '2026-02-31' }],
    ['vendor_snippets[1].valid_till', { vendorSnippets: [snippet('fine', [1]), snippet('late', [1], 'never')] }],
    ['vendor_snippets[0].name', { vendorSnippets: [snippet('unseen\u200b', [1])] }],
    ['Delivery time and orders close time are required', { deliveryTime: '' }],
    ['Delivery time and orders close time are required', { freezeTime: '' }],
    ['One or more invalid product IDs in snippet "broken"', { vendorSnippets: [snippet('broken', [1, 999])] }],
    ['Snippet name "twice" already exists', { vendorSnippets: [snippet('twice', [1]), snippet('twice', [2])] }],
    ...[0, -1, 2147483647, -2147483648].map((id): [string, { id: number }] => ['Slot not found', { id }]),
  ])('UpdateSlot wraps the error %s, for %j, and has it as the cause in its details', async (message, wrong) => {
    const id = await addSlot();
    const before = await everything(id);
    const { metadata } = await expectError(api.staff.updateSlot({ ...changes(id), ...wrong }), 'SLOT_NOT_UPDATED');
    expect(metadata.causeReason).toMatch(/^[A-Z][A-Z_]+$/);
    expect(metadata.causeMessage).toContain(message);
    expect(await everything(id)).toEqual(before);
  });

  it('UpdateSlot checks snippets in their order, and in each the products before the name', async () => {
    const id = await addSlot();
    const name = `first-${id}`;
    await takeName(name);
    const [taken, unknown, both] = [snippet(name, [1]), snippet('unknown', [999]), snippet(name, [999])];
    const causeOf = async (vendorSnippets: (typeof taken)[]) => {
      const call = api.staff.updateSlot({ ...changes(id), vendorSnippets });
      const info = await expectError(call, 'SLOT_NOT_UPDATED');
      return info.metadata.causeMessage;
    };
    expect(await causeOf([taken, unknown])).toBe(`Snippet name "${name}" already exists`);
    expect(await causeOf([unknown, taken])).toBe('One or more invalid product IDs in snippet "unknown"');
    expect(await causeOf([both])).toBe(`One or more invalid product IDs in snippet "${name}"`);
  });

  it('An unexpected failure of UpdateSlot has the same message, and fails as INTERNAL', async () => {
    const id = await addSlot();
    const before = await everything(id);
    await api.sql(`create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'a secret of the database'; end $$`);
    try {
      await api.sql('create trigger fails before insert on product_slots for each row execute function fail()');
      const error = await failureOf(api.staff.updateSlot(changes(id)));
      expect(JSON.stringify([error.message, error.details, [...error.metadata]])).not.toContain('secret');
      await expectError(Promise.reject(error), {
        code: 'Internal',
        message: 'Unable to Update Slot',
        reason: 'SLOT_NOT_UPDATED',
      });
    } finally {
      await api.sql('drop function fail cascade');
    }
    expect(await everything(id)).toEqual(before);
  });

  it.each([
    ['a NUL in a time', { deliveryTime: '2030\0' }, 'delivery_time'],
    ['a time that is too long', { freezeTime: `${' '.repeat(2000)}2030-01-01` }, 'freeze_time'],
    ['an empty snippet name', { vendorSnippets: [snippet('', [1])] }, 'vendor_snippets[0].name'],
    ['a long snippet name', { vendorSnippets: [snippet('\u{1f69a}'.repeat(129), [1])] }, 'vendor_snippets[0].name'],
    ['a snippet without products', { vendorSnippets: [snippet('none', [])] }, 'vendor_snippets[0].product_ids'],
    ['a product id of 0', { vendorSnippets: [snippet('zero', [1, 0])] }, 'vendor_snippets[0].product_ids[1]'],
  ])('The error for %s names the field, also to a caller without a staff identity', async (_what, wrong, field) => {
    const id = await addSlot();
    await expectInvalidField(api.staff.updateSlot({ ...changes(id), ...wrong }), field);
    await expectInvalidField(api.guest.updateSlot({ ...changes(id), ...wrong }), field);
  });
});
