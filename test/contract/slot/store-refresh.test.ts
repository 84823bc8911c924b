import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { CallOptions, Client } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { slotContract } from '../../support/contract.ts';
import { requestIdOf } from '../../support/slot-writes.ts';

type Call = (client: Client<typeof SlotService>, options: CallOptions) => Promise<unknown>;
const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
const map = fromJson(ValueSchema, { 1: [1] });
/** A slot with this id exists. */
const id = 1_000_000;

const scheduling: [string, Call][] = [
  ['UpdateSlotProducts', (client, options) => client.updateSlotProducts({ slotId: id, productIds: [7] }, options)],
  ['CreateSlot', (client, options) => client.createSlot(times, options)],
  ['UpdateSlot', (client, options) => client.updateSlot({ id, ...times }, options)],
  ['DeleteSlot', (client, options) => client.deleteSlot({ id }, options)],
  ['UpdateSlotCapacity', (client, options) => client.updateSlotCapacity({ slotId: id, isCapacityFull: true }, options)],
];
const others: [string, Call][] = [
  ['GetAll', (client, options) => client.getAll({}, options)],
  ['GetSlotsProductIds', (client, options) => client.getSlotsProductIds({ slotIds: [id] }, options)],
  ['GetSlots', (client, options) => client.getSlots({}, options)],
  ['GetSlotById', (client, options) => client.getSlotById({ id }, options)],
  ['GetDeliverySequence', (client, options) => client.getDeliverySequence({ id: String(id) }, options)],
  [
    'UpdateDeliverySequence',
    (client, options) => client.updateDeliverySequence({ id, deliverySequence: map }, options),
  ],
];
slotContract('A store refresh', (api) => {
  // A refresh deletes its requests from the table, so a trigger keeps a list for the test.
  beforeAll(() =>
    api.sql(`create table seen_requests (id bigint);
      create function see() returns trigger language plpgsql security definer as
        $$ begin insert into seen_requests values (new.id); return null; end $$;
      create trigger sees after insert on store_refresh_requests for each row execute function see()`),
  );

  beforeEach(async () => {
    await api.sql(
      'delete from vendor_snippets; delete from product_slots; delete from slots; delete from seen_requests',
    );
    await api.sql('insert into slots (id, delivery_time, freeze_time) values ($1, now(), now())', [id]);
  });

  /** Makes a call. Returns the number of requests in the list afterwards, and the header of the response. */
  const observe = async (call: Call) => {
    const header = await requestIdOf((options) => call(api.staff, options));
    return { header, requests: (await api.sql('select 1 from seen_requests')).length };
  };

  it.each(scheduling)('Every %s requests one store refresh, and its response has the id', async (_name, call) => {
    const [one, two] = [await observe(call), await observe(call)];
    expect([one.requests, two.requests]).toEqual([1, 2]);
    expect(one.header).toMatch(/./);
    expect(two.header).not.toBe(one.header);
  });

  it.each(others)('%s requests no store refresh', async (_name, call) => {
    expect(await observe(call)).toEqual({ requests: 0, header: undefined });
  });
});
