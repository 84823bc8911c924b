import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, slotContract } from '../../support/contract.ts';
import { signToken } from '../../support/tokens.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
/** The id of a slot that exists. */
const id = 1_000_000;
const deliverySequence = fromJson(ValueSchema, { 1: [1] });

/** Every procedure but GetDeliverySequence, with a request that succeeds for staff. */
const procedures: [string, (client: Client<typeof SlotService>) => Promise<unknown>][] = [
  ['GetAll', (client) => client.getAll({})],
  ['GetSlotsProductIds', (client) => client.getSlotsProductIds({ slotIds: [id] })],
  ['UpdateSlotProducts', (client) => client.updateSlotProducts({ slotId: id, productIds: [7] })],
  ['CreateSlot', (client) => client.createSlot({ ...times, productIds: [7] })],
  ['GetSlots', (client) => client.getSlots({})],
  ['GetSlotById', (client) => client.getSlotById({ id })],
  ['UpdateSlot', (client) => client.updateSlot({ id, ...times, productIds: { ids: [7] } })],
  ['DeleteSlot', (client) => client.deleteSlot({ id })],
  ['UpdateDeliverySequence', (client) => client.updateDeliverySequence({ id, deliverySequence })],
  ['UpdateSlotCapacity', (client) => client.updateSlotCapacity({ slotId: id, isCapacityFull: true })],
];

slotContract('Staff identity', (api) => {
  const everything = async () => ({
    slots: await api.sql('select * from slots order by id'),
    products: await api.sql('select * from product_slots order by slot_id, product_id'),
  });
  const addSlot = () =>
    api.sql(
      `insert into slots (id, delivery_time, freeze_time) values ($1, '2029-01-02Z', '2029-01-01Z')
       on conflict do nothing`,
      [id],
    );

  it.each(procedures)('%s without a staff identity is refused and changes nothing', async (_name, call) => {
    await addSlot();
    const before = await everything();
    await expectError(call(api.guest), 'ACCESS_DENIED');
    expect(await everything()).toEqual(before);
  });

  it.each(procedures)('%s with the staff id of no staff user is refused and changes nothing', async (_name, call) => {
    await addSlot();
    const before = await everything();
    await expectError(call(api.as(await signToken({ staffId: 999 }))), 'ACCESS_DENIED');
    expect(await everything()).toEqual(before);
  });

  it.each(procedures)('%s without a credential is refused', async (_name, call) => {
    await expectError(call(api.as(undefined)), 'AUTHENTICATION_REQUIRED');
  });

  it.each(procedures)('%s may be called by any staff user', async (_name, call) => {
    await addSlot();
    await expect(call(api.as(await signToken({ staffId: 2 })))).resolves.toBeDefined();
  });

  it('A staff identity counts as soon as the staff user exists', async () => {
    const client = api.as(await signToken({ staffId: 50 }));
    await expectError(client.getSlots({}), 'ACCESS_DENIED');
    await api.sql(`insert into staff_users (id, name) values (50, 'New') on conflict do nothing`);
    await expect(client.getSlots({})).resolves.toBeDefined();
  });

  it('The staff identity is checked before the slot is looked up', async () => {
    await expectError(api.guest.getSlotById({ id: 0 }), 'ACCESS_DENIED');
    await expectError(api.guest.deleteSlot({ id: 0 }), 'ACCESS_DENIED');
    await expectError(api.guest.updateSlotCapacity({ slotId: 0, isCapacityFull: true }), 'ACCESS_DENIED');
    await expectError(api.guest.updateDeliverySequence({ id: 0, deliverySequence }), 'ACCESS_DENIED');
    await expectError(api.guest.createSlot({}), 'ACCESS_DENIED');
  });
});
