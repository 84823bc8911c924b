import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { beforeEach, expect, it } from 'vitest';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectInvalidField } from '../support/contract.ts';
import { runService } from '../support/running-service.ts';

const service = runService('slot');
const plan = createClient(SlotPlanService, service.staff);
const slots = createClient(SlotService, service.staff);
beforeEach(async () => {
  await service.sql(`delete from vendor_snippets; delete from product_slots; delete from slots;
    select setval('slots_id_seq', 1000, false)`);
});

const copy = (asked: MessageInitShape<typeof SlotPlanService.method.copySlots.input>) =>
  plan.copySlots(asked, { timeoutMs: 60_000 });
const addSlots = (count: number, groups = `'{}'`) =>
  service.sql(`insert into slots (id, delivery_time, freeze_time, group_ids)
    select n, timestamptz '2030-05-01Z' + n * interval '1 minute', '2030-05-01Z', ${groups} from generate_series(1, ${count}) n`);

it.each(['2300-05-06T10:00:00.000999Z', '9990-05-06T10:00:00.000999Z'])(
  'The answer cuts a time to milliseconds as all others do: %s',
  async (time) => {
    await service.sql('insert into slots (id, delivery_time, freeze_time) values (1, $1, $1)', [time]);
    const { copies } = await copy({ slotIds: [1], shiftDays: 1 });
    const { slot } = await slots.getSlotById({ id: 1000 });
    expect(copies[0]?.slot?.deliveryTime).toEqual(slot?.deliveryTime);
    expect(slot?.deliveryTime && timestampDate(slot.deliveryTime).getUTCMilliseconds()).toBe(0);
  },
);

it('The last microsecond of the year 9999 can be reached', async () => {
  await service.sql(
    `insert into slots (id, delivery_time, freeze_time) values (1, '9999-12-30T23:59:59.999999Z', '2030-05-01Z')`,
  );
  expect((await copy({ slotIds: [1], shiftDays: 1 })).created).toBe(1);
  await expectInvalidField(copy({ slotIds: [1], shiftDays: 2 }), 'shift_days');
});

it('Snippets that are not copied have no bound, and are all counted', async () => {
  await addSlots(1);
  await service.sql(`insert into vendor_snippets (slot_id, snippet_code, product_ids)
    select 1, 'many ' || n, '{1}' from generate_series(1, 100005) n
    union all select 1, 'large ' || n, array(select generate_series(1, 1000)) from generate_series(1, 1700) n`);
  expect(await copy({ slotIds: [1], shiftDays: 1 })).toMatchObject({ created: 1, snippetsLeftOut: 101_705 });
  await expectInvalidField(copy({ slotIds: [1], shiftDays: 1, snippetName: '{name} {date}' }), 'slot_ids');
});

it.each<[string, string, string]>([
  [
    '300,000',
    'products',
    'insert into product_slots select n, p from generate_series(1, 500) n, generate_series(1, 301) p',
  ],
  ['200,000', 'groups', 'update slots set group_ids = array(select generate_series(1, 201))'],
])('Copies with more than %s %s together are refused', async (most, what, fill) => {
  await addSlots(500);
  await service.sql(fill);
  const slotIds = Array.from({ length: 500 }, (_, index) => index + 1);
  const { rawMessage } = await copy({ slotIds, shiftDays: 1, repeat: 2, dryRun: true }).catch((error) => error);
  expect(rawMessage).toBe(`slot_ids: makes more than ${most} ${what}`);
});

it('Slots at the times of the copies that have more groups than can be looked through are no reason to wait', async () => {
  await addSlots(1, `'{1}'`);
  await service.sql(`insert into slots (id, delivery_time, freeze_time, group_ids)
    select n, '2030-05-02T00:01Z', '2030-05-01Z', array(select (random() * 1e9)::integer from generate_series(1, 3000))
    from generate_series(2, 500) n`);
  await expectInvalidField(copy({ slotIds: [1], shiftDays: 1 }), 'shift_days');
});

it('Copies succeed while others write to their sources all the time', async () => {
  await addSlots(300);
  await service.sql('insert into product_slots select id, p from slots, generate_series(1, 50) p');
  let isDone = false;
  const write = async (slotId: number) => {
    for (let turn = 0; !isDone; turn += 1) {
      await slots.updateSlotCapacity({ slotId: 1 + ((slotId + 7 * turn) % 300), isCapacityFull: turn % 2 === 0 });
    }
  };
  const writers = [1, 100, 200].map(write);
  const slotIds = Array.from({ length: 300 }, (_, index) => index + 1);
  try {
    for (const shiftDays of [1, 2, 3]) expect((await copy({ slotIds, shiftDays })).created).toBe(300);
  } finally {
    isDone = true;
    await Promise.all(writers);
  }
});

it('Copies with 300,000 products are made, by several statements', async () => {
  await addSlots(500);
  await service.sql('insert into product_slots select n, p from generate_series(1, 500) n, generate_series(1, 300) p');
  const slotIds = Array.from({ length: 500 }, (_, index) => index + 1);
  expect((await copy({ slotIds, shiftDays: 1, repeat: 2 })).created).toBe(1_000);
  const [row] = await service.sql('select count(*)::integer as n from product_slots where slot_id >= 1000');
  expect(row).toEqual({ n: 300_000 });
}, 120_000);
