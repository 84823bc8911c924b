import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { expectError, expectInvalidField, slotContract } from '../../support/contract.ts';
import { addSlotOf, noMaps } from '../../support/slots.ts';

slotContract('UpdateDeliverySequence', (api) => {
  const addSlot = (isActive = true) => addSlotOf(api.sql, { is_active: isActive, group_ids: [1] });
  const setRow = (id: number, sequence: JsonValue) =>
    api.sql('update slots set delivery_sequence = $2 where id = $1', [id, JSON.stringify(sequence)]);
  const stored = async (id: number) =>
    (await api.sql('select delivery_sequence as value from slots where id = $1', [id]))[0]?.value;
  const update = (id: number, sequence: JsonValue) =>
    api.staff.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, sequence) });
  const json = (value: Value | undefined) => value && toJson(ValueSchema, value);
  const read = async (id: number) => json((await api.guest.getDeliverySequence({ id: String(id) })).deliverySequence);

  it.each<[JsonValue]>([
    [{ 10: [3, 1], 9: [] }],
    [[1, 'two', 2.5, null, true, { deep: [[{}]] }]],
    [{ 1: { nested: ['x', { y: null }] }, '': 0, '\\u0000': ['\\u0000'] }],
    ['ünï "\\ \u{1f69a}'],
    ...'{} [] "text" "" "null" 0 -0.125 9007199254740991 1e300 true false'
      .split(' ')
      .map((text): [JsonValue] => JSON.parse(`[${text}]`)),
  ])('A sequence %j is stored as given, and the response has it', async (value) => {
    const id = await addSlot();
    const { slot, message } = await update(id, value);
    expect(message).toBe('Delivery sequence updated successfully');
    expect({ id: slot?.id, value: json(slot?.deliverySequence) }).toEqual({ id, value });
    expect(await stored(id)).toEqual(value);
    expect(await read(id)).toEqual(value);
  });

  it('An explicit null is stored', async () => {
    const id = await addSlot();
    await setRow(id, { 1: [1] });
    const { slot, message } = await update(id, null);
    expect([slot?.id, message]).toEqual([id, 'Delivery sequence updated successfully']);
    expect(await stored(id)).toBeNull();
    expect(await read(id)).toEqual({});
  });

  it('UpdateDeliverySequence changes no other field', async () => {
    const id = await addSlot(false);
    const [before] = await api.sql('select * from slots where id = $1', [id]);
    await update(id, { 1: [1] });
    const after = await api.sql('select * from slots where id = $1', [id]);
    // The size follows from the sequence, and the etag changes.
    expect(after).toEqual([
      { ...before, delivery_sequence: { 1: [1] }, shown_bytes: expect.any(Number), etag: expect.any(String) },
    ]);
  });

  it.each<[JsonValue]>([[{ 2: [4, 3] }], [{}], [{ name: [] }]])(
    'A sequence %j replaces the cache entry',
    async (map) => {
      const id = await addSlot();
      await update(id, { 1: [1] });
      await update(id, map);
      await setRow(id, { 9: [9] });
      expect(await read(id)).toEqual(map);
    },
  );

  it.each([...noMaps, 'null', 'true'])(
    'A sequence %s, which is no map, leaves the cache entry as it is',
    async (text) => {
      const value: JsonValue = JSON.parse(text);
      const id = await addSlot();
      await update(id, { 1: [1] });
      await update(id, value);
      expect(await stored(id)).toEqual(value);
      expect(await read(id)).toEqual({ 1: [1] });
    },
  );

  it('The sequence of a slot that does not exist is not cached', async () => {
    const id = await addSlot();
    await api.sql('delete from slots where id = $1', [id]);
    await expectError(update(id, { 1: [1] }), 'SLOT_NOT_FOUND');
    await expectError(api.guest.getDeliverySequence({ id: String(id) }), 'SLOT_NOT_FOUND');
  });

  it('A request without a value is refused', async () => {
    const id = await addSlot();
    await update(id, { 1: [1] });
    await expectInvalidField(api.staff.updateDeliverySequence({ id }), 'delivery_sequence');
    expect(await stored(id)).toEqual({ 1: [1] });
  });

  it.each<[string, Value['kind']]>([
    ['no kind', { case: undefined }],
    ['NaN', { case: 'numberValue', value: Number.NaN }],
    ['Infinity', { case: 'numberValue', value: Number.POSITIVE_INFINITY }],
  ])('A value of %s is refused', async (_what, kind) => {
    const id = await addSlot();
    const deliverySequence = create(ValueSchema, { kind });
    await expectInvalidField(api.staff.updateDeliverySequence({ id, deliverySequence }), 'delivery_sequence');
    expect(await stored(id)).toEqual({});
  });

  it.each<[JsonValue]>([['a\0b'], [['\0']], [{ 'a\0': [1] }], [{ 1: { 2: ['\0'] } }]])(
    'A value with a NUL is refused: %j',
    async (value) => {
      const id = await addSlot();
      await expectInvalidField(update(id, value), 'delivery_sequence');
      expect(await stored(id)).toEqual({});
    },
  );

  it.each<[JsonValue]>([[[2 ** 53]], [{ 1: [-(2 ** 53)] }], [2 ** 69]])(
    'A value with an integer that a double may not hold is refused: %j',
    async (value) => {
      const id = await addSlot();
      await expectInvalidField(update(id, value), 'delivery_sequence');
      expect(await stored(id)).toEqual({});
    },
  );

  it.each<[JsonValue]>([[9007199254740991], [-9007199254740991], [1e21], [9007199254740.5]])(
    'The number %j is stored as it is',
    async (value) => {
      const id = await addSlot();
      await update(id, value);
      expect(await stored(id)).toBe(value);
    },
  );
});
