import { createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError } from '../support/contract.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { runService } from '../support/running-service.ts';
import { startTestService } from '../support/service.ts';
import { signToken, withToken } from '../support/tokens.ts';

/** Ten slots with 100,000 products each, and one with one more. */
describe('Slots with a million and one products', () => {
  const service = runService('slot');
  const slots = createClient(SlotService, service.staff);

  beforeAll(async () => {
    await service.database.sql(
      `insert into slots (id, delivery_time, freeze_time) select id, now(), now() from generate_series(1, 11) id`,
    );
    await service.database.sql(
      `insert into product_slots select slot_id, product_id
       from generate_series(1, 11) slot_id, generate_series(1001, 101000) product_id
       where slot_id < 11 or product_id = 1001`,
    );
    await service.database.sql('vacuum analyze product_slots');
  });

  it('GetSlotsProductIds gives a million product ids, and refuses more', async () => {
    const slotIds = Array.from({ length: 10 }, (_, index) => index + 1);
    const { productIds } = await slots.getSlotsProductIds({ slotIds });
    expect(Object.values(productIds).map(({ ids }) => ids.length)).toEqual(Array(10).fill(100_000));
    await expectError(slots.getSlotsProductIds({ slotIds: [...slotIds, 11] }), 'ANSWER_TOO_LARGE');
  });

  it('GetAll gives a million associations, and refuses more', async () => {
    await expectError(slots.getAll({}), 'ANSWER_TOO_LARGE');
    await service.database.sql('update slots set is_active = id > 9');
    const { slots: listed } = await slots.getAll({});
    expect(listed.map(({ productSlots }) => productSlots.length)).toEqual([1, 100_000]);
  });
});

it('Products that are too large for an answer are not read for one', async ({ onTestFinished }) => {
  const service = await startTestService('slot');
  onTestFinished(() => service.stop());
  const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  const slots = createClient(SlotService, withToken(transport, await signToken({ staffId: 1 })));
  await service.database.sql(
    `insert into products (id, name, images) select n, 'Large', array[repeat('x', 2000)] from generate_series(1001, 1090) n;
     insert into slots (id, delivery_time, freeze_time) values (1, now(), now());
     insert into product_slots select 1, n from generate_series(1001, 1090) n`,
  );
  expect((await slots.getSlotById({ id: 1 })).slot?.products).toHaveLength(90);
  // As JSON a control character has six bytes, and all of them more than PostgreSQL can build.
  await service.database.sql('update products set images = array[repeat(chr(1), 2 * 1000 * 1000)] where id > 1000');
  await expectError(slots.getSlotById({ id: 1 }), 'ANSWER_TOO_LARGE');
  await expectError(slots.getAll({}), 'ANSWER_TOO_LARGE');
  transport.close();
});

it("A slot's size counts a field that is added later", async ({ onTestFinished }) => {
  const service = await startTestService('slot');
  onTestFinished(() => service.stop());
  await service.database.sql('alter table slots add added_later text');
  await service.database.sql(
    `insert into slots (delivery_time, freeze_time, added_later) values (now(), now(), repeat('x', 40 * 1024 * 1024))`,
  );
  const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  const slots = createClient(SlotService, withToken(transport, await signToken({ staffId: 1 })));
  await expectError(slots.getSlots({}), 'ANSWER_TOO_LARGE');
  transport.close();
});
