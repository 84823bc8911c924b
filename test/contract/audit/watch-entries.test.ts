import { toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { afterEach, expect, it } from 'vitest';
import { AuditService, WatchEntriesResponseSchema } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { couponContract, expectError, expectInvalidField, failureOf, slotContract } from '../../support/contract.ts';
import { EntryWatch } from '../../support/entry-watch.ts';
import { holding } from '../../support/locks.ts';
import { readPages } from '../../support/pages.ts';
import { protocols } from '../../support/protocols.ts';
import { createSlot } from '../../support/slot-writes.ts';

/** SQL of an entry that some other writer makes. */
const entryOf = (id: number, type = 'slot', after = `'{"isActive": true}'`) =>
  `insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after, shown_bytes)
   select 'p/One', 'anna', 'r', '${type}', ${id}, after, octet_length(after::text) from (values (${after}::json)) as changes (after)`;
const capable = protocols.filter(({ name }) => name !== 'Connect GET');

slotContract.over(capable)('WatchEntries', (api) => {
  const watches: EntryWatch[] = [];
  const open = async (request: ConstructorParameters<typeof EntryWatch>[1] = {}) => {
    const watch = await EntryWatch.open(api.transportAs('staff'), request);
    watches.push(watch);
    return watch;
  };
  afterEach(() => Promise.all(watches.splice(0).map((watch) => watch.cancel())));

  it('A stream from now on tells its position at once, then each entry, once and as ListEntries has it', async () => {
    await createSlot({ slots: api.staff });
    const watch = await open();
    expect(watch.answers.map(({ entries }) => entries)).toEqual([[]]);
    const one = await createSlot({ slots: api.staff });
    await watch.until(1);
    const two = await createSlot({ slots: api.staff });
    await watch.until(2);
    expect(watch.records).toEqual([`slot ${one.slotId}`, `slot ${two.slotId}`]);
    const { entries } = await createClient(AuditService, api.transportAs('staff')).listEntries({ limit: 2 });
    expect(watch.entries).toEqual(entries.reverse());
  });

  it('A call that fails or changes nothing puts nothing into the stream', async () => {
    const { slotId } = await createSlot({ slots: api.staff });
    const watch = await open();
    await expectError(api.staff.deleteSlot({ id: 999_999 }), 'SLOT_NOT_FOUND');
    await api.staff.updateSlotCapacity({ slotId, isCapacityFull: false });
    await api.staff.updateSlotCapacity({ slotId, isCapacityFull: true });
    await watch.until(1);
    expect(watch.entries.map(({ procedure }) => procedure)).toEqual(['slot.v1.SlotService/UpdateSlotCapacity']);
  });

  it('A stream that is opened again with any of its positions goes on after it', async () => {
    const watch = await open();
    for (const id of [1, 2, 3]) {
      await api.sql(entryOf(id));
      await watch.until(id);
    }
    for (const [at, { position }] of watch.answers.entries()) {
      const left = watch.answers.slice(at + 1).flatMap(({ entries }) => entries);
      const resumed = await open({ position });
      await resumed.until(left.length);
      expect(resumed.entries).toEqual(left);
    }
  });

  it('A stream from the oldest entry has all that are kept, at most 500 in an answer', async () => {
    await api.sql(`${entryOf(7)}, generate_series(1, 1200)`);
    const watch = await open({ position: 'oldest' });
    await watch.until(1_200);
    const client = createClient(AuditService, api.transportAs('staff'));
    const pages = await readPages((pageToken) => client.listEntries({ limit: 1_000, pageToken }));
    const listed = pages.flatMap(({ entries }) => entries).sort((left, right) => Number(left.id - right.id));
    expect(watch.entries).toEqual(listed);
    expect(Math.max(...watch.answers.map(({ entries }) => entries.length))).toBe(500);
  });

  it('A stream for some types of records has only their entries', async () => {
    const watch = await open({ resourceTypes: ['product', 'booking', 'user'] });
    await api.sql(entryOf(1, 'slot'));
    await api.sql(entryOf(2, 'product'));
    await api.sql(entryOf(3, 'coupon'));
    await api.sql(entryOf(4, 'user'));
    await api.sql(entryOf(5, 'user').replace('p/One', 'catalog.v1.ImportService/ImportUsers'));
    await watch.until(2);
    expect(watch.records).toEqual(['product 2', 'user 5']);
  });

  it('A stream of slot-service for a type that only coupon-service writes is refused', async () => {
    for (const type of ['coupon', 'reserved_coupon', 'redemption', 'coupon_batch']) {
      const { end } = new EntryWatch(api.transportAs('staff'), { resourceTypes: ['slot', type] });
      await expectInvalidField(end, 'resource_types');
      const { rawMessage } = await failureOf(end);
      expect(rawMessage).toContain(`: slot-service has no entries of type ${type}`);
    }
  });

  it('A stream ends when its client cancels it, also while there is no new entry', async () => {
    const watch = await open();
    await watch.cancel();
    const ended = () => api.log.filter(({ method }) => String(method).endsWith('WatchEntries')).map(({ code }) => code);
    await expect.poll(() => ended().at(-1)).toBe('CANCELED');
    expect(api.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

slotContract('The order of WatchEntries', (api) => {
  const open = (request = {}) => EntryWatch.open(api.transportAs('staff'), request);

  it('An entry whose transaction began first and commits last comes first', async () => {
    const watch = await open();
    await holding(api.databaseUrl, entryOf(1), async (lock) => {
      await api.sql(entryOf(2));
      await api.sql(entryOf(3));
      await lock.release('commit');
    });
    await watch.until(3);
    await watch.cancel();
    expect(watch.records).toEqual(['slot 1', 'slot 2', 'slot 3']);
  });

  it('An entry of before the stream, whose place was not final yet, does not come, but one that commits later does', async () => {
    const written = await open();
    await holding(api.databaseUrl, entryOf(1), async (lock) => {
      await api.sql(entryOf(2));
      const watch = await open();
      await api.sql(entryOf(3));
      await lock.release('commit');
      await watch.until(2);
      await watch.cancel();
      expect(watch.records).toEqual(['slot 1', 'slot 3']);
    });
    await written.until(3);
    await written.cancel();
    expect(written.records).toEqual(['slot 1', 'slot 2', 'slot 3']);
  });

  it('Entries of before a write that is open come while it is', async () => {
    await api.sql(entryOf(1));
    const first = await open();
    await holding(api.databaseUrl, entryOf(2), async () => {
      const watch = await open({ position: 'oldest' });
      await watch.until(1);
      expect(watch.records).toContain('slot 1');
      await watch.cancel();
    });
    await first.cancel();
  });

  it('An open transaction that began to write later than an entry does not delay it', async () => {
    const watch = await open();
    await holding(api.databaseUrl, 'select', async () => {
      await api.sql(entryOf(1));
      await watch.until(1);
      await holding(api.databaseUrl, entryOf(2), () => createSlot({ slots: api.staff }));
    });
    await watch.until(2);
    expect(watch.records[0]).toBe('slot 1');
    await watch.cancel();
  });

  it('Writers that take turns hold back no entry that was committed before they began', async () => {
    const watch = await open();
    await holding(api.databaseUrl, entryOf(1), async (first) => {
      await api.sql(entryOf(2));
      // The next one begins to write later, and stays longer.
      const last = `select pg_sleep(1); ${entryOf(3)}`;
      await holding(api.databaseUrl, last, async () => {
        await first.release('commit');
        await watch.until(2);
        expect(watch.records).toEqual(['slot 1', 'slot 2']);
      });
    });
    await watch.cancel();
  });

  it('The entries of one slot come as its changes were made, whichever transaction began first', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await createSlot({ slots: api.staff })).slotId);
    const [, second = 0, third = 0] = ids;
    const watch = await open();
    const { transportAs } = api;
    const plan = createClient(SlotPlanService, transportAs('staff'));
    await holding(api.databaseUrl, `select from slots where id = ${second} for update`, async (lock) => {
      const updated = plan.updateSlots({
        slots: ids.map((id) => ({ id })),
        change: { case: 'isActive', value: false },
      });
      await lock.untilAwaited();
      await api.staff.updateSlotCapacity({ slotId: third, isCapacityFull: true });
      await lock.release();
      await updated;
    });
    await watch.until(4);
    await watch.cancel();
    const ofThird = watch.entries.filter(({ resourceId }) => resourceId === third);
    expect(ofThird.map(({ after }) => after)).toEqual([{ isCapacityFull: true }, { isActive: false }]);
  });
});

/** As the owner of the schema, who alone may do so. */
const sweeping = (statement: string) => `begin; set local audit.sweeping = 'on'; ${statement}; commit`;

slotContract('A position of WatchEntries', (api) => {
  const open = (request = {}) => EntryWatch.open(api.transportAs('staff'), request);
  const endOf = (position: string) => new EntryWatch(api.transportAs('staff'), { position }).end;
  /** The position after a new entry. */
  const newPosition = async () => {
    const watch = await open();
    await api.sql(entryOf(1));
    await watch.until(1);
    await watch.cancel();
    return watch.position;
  };

  it('The position of a trail without entries is one to go on from, until entries were deleted', async () => {
    const watch = await open();
    await watch.cancel();
    await api.sql(entryOf(1));
    const resumed = await open({ position: watch.position });
    await resumed.until(1);
    await resumed.cancel();
    await api.sql('update audit_retention set swept_id = 1, swept_at = now()');
    await expectError(endOf(watch.position), 'POSITION_LOST');
  });

  it('A garbled position is refused', async () => {
    const position = await newPosition();
    const forged = Buffer.from(Buffer.from(position, 'base64url').toString().replace(/^./, '9')).toString('base64url');
    for (const garbled of ['x', 'Oldest', `${position}x`, position.slice(1), forged]) {
      await expectInvalidField(endOf(garbled), 'position');
    }
  });

  it('A position whose entry was deleted, or is another one, is lost', async () => {
    const [swept, setBack] = [await newPosition(), await newPosition()];
    await newPosition();
    const nth = (n: number) => `id = (select id from audit_entries order by id desc offset ${n} limit 1)`;
    const change = `update audit_entries set at = at + interval '1 us' where ${nth(1)}`;
    await api.sql(
      `alter table audit_entries disable trigger user; ${change}; alter table audit_entries enable trigger user`,
    );
    await expectError(endOf(setBack), 'POSITION_LOST');
    await api.sql(sweeping(`delete from audit_entries where ${nth(2)}`));
    await expectError(endOf(swept), 'POSITION_LOST');
  });

  it('Retention that deletes what was read loses no position, and ends no stream, until it deletes more', async () => {
    await api.sql(`update audit_retention set days = 1;
      insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, after)
      select now() - interval '3 days', '', '', '', 'slot', 77, '{}' from generate_series(1, 3)`);
    const watch = await open({ position: 'oldest' });
    await expect.poll(() => watch.records.slice(-3)).toEqual(['slot 77', 'slot 77', 'slot 77']);
    const before = watch.position;
    const sweep = `select sweep_audit_entries('infinity', 100)`;
    await api.sql(sweep);
    expect(await api.sql('select from audit_entries where resource_id = 77')).toEqual([]);
    const resumed = await open({ position: watch.position });
    await api.sql(entryOf(2));
    await Promise.all([resumed.until(1), expect.poll(() => watch.records.at(-1)).toBe('slot 2')]);
    await Promise.all([watch.cancel(), resumed.cancel()]);
    expect(resumed.records).toEqual(['slot 2']);
    await api.sql(`insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, after)
      select now() - interval '3 days', '', '', '', 'slot', 78, '{}'`);
    await api.sql(sweep);
    await expectError(endOf(before), 'POSITION_LOST');
  });

  it('Streams end with POSITION_LOST when the database is set back, and new ones go on in it', async () => {
    const position = await newPosition();
    const watch = await open({ position });
    await api.sql(sweeping('delete from audit_entries where id = (select max(id) from audit_entries)'));
    await expectError(watch.end, 'POSITION_LOST');
    await expect
      .poll(() => api.log.map(({ msg }) => msg))
      .toContain('the database was set back: streams of entries end');
    const anew = await open();
    await api.sql(entryOf(2));
    await anew.until(1);
    expect(anew.records).toEqual(['slot 2']);
    await anew.cancel();
  });

  it('A stream without new entries tells its position at least every 15 s', { timeout: 60_000 }, async () => {
    const watch = await open({ resourceTypes: ['order'] });
    await api.sql(entryOf(1));
    await expect.poll(() => watch.answers.length, { timeout: 15_000 }).toBe(2);
    await watch.cancel();
    expect(watch.answers.map(({ entries }) => entries)).toEqual([[], []]);
    expect(watch.answers[1]?.position).not.toBe(watch.answers[0]?.position);
  });
});

slotContract.over(capable)('The size of an answer of WatchEntries', (api) => {
  it('Answers have at most 4 MiB, and an entry that is larger comes without its changes', async () => {
    const numbers = (count: number) =>
      `json_build_object('productIds', array(select n % 7 from generate_series(1, ${count}) as n))`;
    for (const [id, count] of [200_000, 300_000, 500_000, 100_000, 1_000].entries()) {
      await api.sql(entryOf(id + 1, 'slot', numbers(count)));
    }
    await api.sql(`${entryOf(6, 'slot', `json_build_object('name', repeat('x', 9000))`)}, generate_series(1, 600)`);
    const watch = await EntryWatch.open(api.transportAs('staff'), { position: 'oldest' });
    await watch.until(605);
    await watch.cancel();
    const sizes = watch.answers.map((answer) => toBinary(WatchEntriesResponseSchema, answer).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * 1024 * 1024);
    const changed = watch.entries.slice(0, 5).map(({ after }) => (after === undefined ? 0 : 1));
    expect(changed).toEqual([1, 1, 0, 1, 1]);
  });
});

couponContract('WatchEntries of coupon-service', (api) => {
  it('The stream of a staff user who is disabled ends, once no replica knows that user from before', async () => {
    const watch = await EntryWatch.open(api.transportAs('staff'));
    await api.sql('update staff_users set disabled_at = now() where id = 1');
    await expectError(watch.end, 'ACCESS_DENIED');
    await api.sql('update staff_users set disabled_at = null where id = 1');
  });

  it('A stream of coupon-service for a type that only slot-service writes is refused', async () => {
    for (const type of ['slot', 'booking', 'product', 'product_group', 'order', 'database']) {
      const { end } = new EntryWatch(api.transportAs('staff'), { resourceTypes: [type] });
      await expectInvalidField(end, 'resource_types');
      expect((await failureOf(end)).rawMessage).toContain(`: coupon-service has no entries of type ${type}`);
    }
    const users = await EntryWatch.open(api.transportAs('staff'), { resourceTypes: ['user'] });
    await users.cancel();
  });

  it('A stream has the entries of this service only', async () => {
    const watch = await EntryWatch.open(api.transportAs('staff'));
    for (const type of ['slot', 'coupon', 'user', 'database', 'reserved_coupon', 'redemption', 'coupon_batch']) {
      await api.sql(entryOf(1, type));
    }
    await api.sql(entryOf(2, 'user').replace('p/One', 'catalog.v1.ImportService/ImportUsers'));
    await watch.until(5);
    await watch.cancel();
    expect(watch.records).toEqual(['coupon 1', 'user 1', 'reserved_coupon 1', 'redemption 1', 'coupon_batch 1']);
  });
});
