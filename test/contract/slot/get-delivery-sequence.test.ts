import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { expect, it, vi } from 'vitest';
import { expectError, expectInvalidField, slotContract } from '../../support/contract.ts';
import { addSlotOf, noMaps } from '../../support/slots.ts';
import { signToken } from '../../support/tokens.ts';

slotContract('GetDeliverySequence', (api) => {
  const addSlot = (sequence: JsonValue = {}) => addSlotOf(api.sql, { delivery_sequence: JSON.stringify(sequence) });
  const setRow = (id: number, sequence: JsonValue) =>
    api.sql('update slots set delivery_sequence = $2 where id = $1', [id, JSON.stringify(sequence)]);
  const read = async (id: number | string, client = api.guest) => {
    const { deliverySequence } = await client.getDeliverySequence({ id: String(id) });
    return deliverySequence && toJson(ValueSchema, deliverySequence);
  };

  it.each([
    ['A slot without a delivery sequence has an empty object', {}, {}],
    ['A stored null is returned as an empty object', { delivery_sequence: 'null' }, {}],
    ['The sequence of an inactive slot can be read', { is_active: false, delivery_sequence: '{"1": [2]}' }, { 1: [2] }],
  ])('%s', async (_rule, stored, shown) => {
    expect(await read(await addSlotOf(api.sql, stored))).toEqual(shown);
  });

  it.each<[JsonValue]>([[{}], [{ 1: [1, 2], 20: [] }], [{ name: [-5, 0] }]])(
    'A sequence %j is served from the cache',
    async (map) => {
      const id = await addSlot(map);
      expect(await read(id)).toEqual(map);
      await setRow(id, { 9: [9] });
      expect(await read(id)).toEqual(map);
    },
  );

  it.each([...noMaps, 'false'])(
    'A sequence %s, which is no map of integers, is returned as stored and not cached',
    async (text) => {
      const value: JsonValue = JSON.parse(text);
      const id = await addSlot(value);
      expect(await read(id)).toEqual(value);
      await setRow(id, { 9: [9] });
      expect(await read(id)).toEqual({ 9: [9] });
    },
  );

  it('An id may have a sign and leading zeros, and every form of it has the same cache entry', async () => {
    const id = await addSlot({ 1: [1] });
    await read(`+${id}`);
    await setRow(id, { 1: [2] });
    for (const form of [`${id}`, `+${id}`, `00${id}`, `+0${id}`]) expect(await read(form), form).toEqual({ 1: [1] });
  });

  it('Two slots have separate cache entries', async () => {
    const [one, two] = [await addSlot({ 1: [1] }), await addSlot({ 2: [2] })];
    expect([await read(one), await read(two), await read(one)]).toEqual([{ 1: [1] }, { 2: [2] }, { 1: [1] }]);
  });

  it('A cache entry lives for 3600 seconds', async () => {
    const id = await addSlot({ 1: [1] });
    const client = api.as(await signToken({ expiresIn: 10_000 }));
    const start = Date.now();
    try {
      vi.useFakeTimers({ toFake: ['Date'], now: start });
      await read(id, client);
      await setRow(id, { 1: [2] });
      vi.setSystemTime(start + 3_599_000);
      expect(await read(id, client)).toEqual({ 1: [1] });
      vi.setSystemTime(start + 3_601_000);
      expect(await read(id, client)).toEqual({ 1: [2] });
    } finally {
      vi.useRealTimers();
    }
  });

  it('A slot that does not exist is not cached', async () => {
    const id = await addSlot();
    await api.sql('delete from slots where id = $1', [id]);
    await expectError(api.guest.getDeliverySequence({ id: String(id) }), 'SLOT_NOT_FOUND');
    await api.sql('insert into slots (id, delivery_time, freeze_time) values ($1, now(), now())', [id]);
    expect(await read(id)).toEqual({});
  });

  it.each(['0', '-0', '+0', '-1', '2147483647', '+2147483647', '-2147483648', '-007'])(
    'A slot with the id %j is not found',
    async (id) => {
      await expectError(api.guest.getDeliverySequence({ id }), 'SLOT_NOT_FOUND');
    },
  );

  it.each([
    ...['', ' ', ' 5', '5 ', '5\n', '+', '-', '+-5', '--5', '+ 5', '1e3', '5.0', '.5', '0x5', '1_0', '5n', '1,000'],
    ...['five', 'NaN', 'Infinity', 'null', '٥', '５', '5\u00005', '\u{feff}5'],
    ...['2147483648', '+2147483648', '-2147483649', '99999999999999999999'],
  ])('The id %j is refused', async (id) => {
    await expectInvalidField(api.guest.getDeliverySequence({ id }), 'id');
  });
});
