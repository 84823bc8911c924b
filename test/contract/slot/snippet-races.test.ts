import { expect, it } from 'vitest';
import { expectError, slotContract } from '../../support/contract.ts';
import { whileHeld } from '../../support/locks.ts';
import { addSlotOf } from '../../support/slots.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };

slotContract('The snippets of CreateSlot and UpdateSlot', (api) => {
  const everything = () =>
    Promise.all(
      ['slots', 'product_slots', 'vendor_snippets'].map((table) => api.sql(`select * from ${table} order by 1, 2`)),
    );
  /** The last id of a refresh request: the rows are deleted by refreshes, and the ids only grow. */
  const requestsSoFar = () => api.sql('select last_value from store_refresh_requests_id_seq');
  const addSlot = () => addSlotOf(api.sql, {}, [1, 2]);
  const snippet = (name: string, productIds = [1]) => ({ name, productIds });
  const holdName = (name: string) =>
    `insert into vendor_snippets (snippet_code, slot_id, product_ids) select '${name}', min(id), '{1}' from slots`;
  const taken = (name: string) =>
    ({
      code: 'AlreadyExists',
      message: `Snippet name "${name}" already exists`,
      reason: 'SNIPPET_NAME_TAKEN',
    }) as const;

  it('A snippet name that another transaction takes meanwhile is named in the error, and nothing of the slot is left', async () => {
    await addSlot();
    const before = await everything();
    const vendorSnippets = [snippet('a-free-one'), snippet('held'), snippet('z-free-one')];
    const create = () => api.staff.createSlot({ ...times, productIds: [7], vendorSnippets });
    await expectError(whileHeld(api.databaseUrl, holdName('held'), create), taken('held'));
    await api.sql(`delete from vendor_snippets where snippet_code = 'held'`);
    expect(await everything()).toEqual(before);
  });

  it('A snippet name whose transaction is undone is free', async () => {
    await addSlot();
    const create = () => api.staff.createSlot({ ...times, vendorSnippets: [snippet('given-back')] });
    const { createdSnippets, slot } = await whileHeld(api.databaseUrl, holdName('given-back'), create, 'rollback');
    expect(createdSnippets).toMatchObject([{ snippetCode: 'given-back', slotId: slot?.id }]);
  });

  it('An update whose snippet name is taken meanwhile leaves the slot and its products as they were', async () => {
    const id = await addSlot();
    const before = await everything();
    const update = () =>
      api.staff.updateSlot({ id, ...times, productIds: { ids: [9] }, vendorSnippets: [snippet('lost')] });
    const info = await expectError(whileHeld(api.databaseUrl, holdName('lost'), update), 'SLOT_NOT_UPDATED');
    expect(info.metadata).toMatchObject({ causeReason: 'SNIPPET_NAME_TAKEN', causeMessage: taken('lost').message });
    await api.sql(`delete from vendor_snippets where snippet_code = 'lost'`);
    expect(await everything()).toEqual(before);
  });

  it('Of two calls with the same snippet names in opposite orders, one succeeds, and they do not deadlock', async () => {
    for (let round = 0; round < 10; round += 1) {
      const names = Array.from({ length: 20 }, (_, n) => `round-${round}-${n}`);
      const calls = await Promise.allSettled(
        [names, names.toReversed()].map((order) =>
          api.staff.createSlot({ ...times, vendorSnippets: order.map((name) => snippet(name)) }),
        ),
      );
      const lost = calls.filter((call) => call.status === 'rejected');
      expect(lost).toHaveLength(1);
      expect(lost[0]?.reason.rawMessage).toMatch(/^Snippet name "round-\d+-(0|19)" already exists$/);
    }
  });

  it.each([
    ['a name twice', [snippet('free'), snippet('twice'), snippet('twice')]],
    ['a name that exists', [snippet('free'), snippet('exists')]],
    ['a product that does not exist', [snippet('free'), snippet('broken', [1, 999])]],
    ['a date that is none', [snippet('free'), { ...snippet('dated'), validTill: 'never' }]],
  ])('A request whose snippets have %s leaves nothing behind', async (_fault, vendorSnippets) => {
    const id = await addSlot();
    await api.sql(`${holdName('exists')} on conflict do nothing`);
    const before = await everything();
    const requests = await requestsSoFar();
    await expect(api.staff.createSlot({ ...times, productIds: [8], vendorSnippets })).rejects.toThrow();
    const update = api.staff.updateSlot({ id, ...times, productIds: { ids: [8] }, vendorSnippets });
    await expectError(update, 'SLOT_NOT_UPDATED');
    expect(await everything()).toEqual(before);
    expect(await requestsSoFar()).toEqual(requests);
  });

  it('A violation of another unique index fails as INTERNAL', async () => {
    const id = await addSlot();
    await api.sql('create unique index one_of_a_kind on vendor_snippets (product_ids) where product_ids[1] = 20');
    const vendorSnippets = (name: string) => [snippet(name, [20])];
    await api.staff.createSlot({ ...times, vendorSnippets: vendorSnippets('first') });
    const before = await everything();
    const create = api.staff.createSlot({ ...times, vendorSnippets: vendorSnippets('second') });
    await expectError(create, 'INTERNAL');
    const update = api.staff.updateSlot({ id, ...times, vendorSnippets: vendorSnippets('third') });
    await expectError(update, { code: 'Internal', message: 'Unable to Update Slot', reason: 'SLOT_NOT_UPDATED' });
    expect(await everything()).toEqual(before);
  });

  it('A slot that does not exist is reported before a repeated snippet name and before a wrong date', async () => {
    for (const vendorSnippets of [
      [snippet('twice'), snippet('twice')],
      [{ ...snippet('dated'), validTill: 'never' }],
    ]) {
      const info = await expectError(
        api.staff.updateSlot({ id: 99_999, ...times, vendorSnippets }),
        'SLOT_NOT_UPDATED',
      );
      expect(info.metadata.causeReason).toBe('SLOT_NOT_FOUND');
    }
  });
});
