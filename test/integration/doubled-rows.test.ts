import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findDoubledRows } from '../../shared/db/doubled-rows.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { runProgram } from '../support/processes.ts';
import { fixture } from '../support/service.ts';

describe('What the migration tells of doubled rows', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
    await database.sql(fixture);
    await database.sql(`
      insert into coupons (id, coupon_code, flat_discount, max_uses, max_limit_for_user, exclusive_apply, created_by)
        overriding system value
        values (1, 'FOR-TWO', 5, 2, null, false, 1), (2, 'ONCE', 5, null, 1, false, 1), (3, 'ALONE', 5, null, null, true, 1),
          (4, 'ANY', 5, 0, 0, false, 1);
      insert into slots (id, delivery_time, freeze_time, group_ids) overriding system value
        select n, '2030-05-01T10:00Z', '2030-05-01T08:00Z', array[n % 2] from generate_series(1, 6) n`);
  });
  afterAll(() => database.close());

  const redeem = (rows: string) =>
    database.sql(`insert into redemptions (coupon_id, user_id, order_key, state, held_until, order_amount, discount_amount, created_at)
      select coupon_id, user_id, order_key, state, now() + minutes::integer * interval '1 minute', 100, 5, now()
      from (values ${rows}) as given (coupon_id, user_id, order_key, state, minutes)`);
  /** @param minutes when CopySlots made the slot. */
  const copied = (id: number, minutes: number, procedure = 'slot.v1.SlotPlanService/CopySlots') =>
    database.sql(
      `insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after, shown_bytes, at)
       values ($1, '', '', 'slot', $2, '{}', 2, '2026-01-01Z'::timestamptz + $3 * interval '1 minute')`,
      [procedure, id, minutes],
    );
  const found = () => findDoubledRows(database.url, 'public');

  it('Nothing is told of what is within its limits', async () => {
    await redeem(`(1, 1, 'a', 'USED', null), (1, 1, 'b', 'HELD', 5), (1, 1, 'c', 'HELD', -5), (1, 1, 'd', 'RELEASED', null),
      (2, 1, 'a', 'USED', null), (2, 1, 'e', 'EXPIRED', null), (2, 1, 'f', 'HELD', -5), (2, 2, 'b', 'USED', null),
      (3, 1, 'g', 'USED', null), (3, 1, 'g', 'RELEASED', null), (1, 1, 'g', 'HELD', -5), (4, 1, 'a', 'USED', null), (4, 1, 'h', 'USED', null)`);
    for (const [id, minutes] of [
      [1, 0],
      [2, 0],
      [3, 60],
    ] as const)
      await copied(id, minutes);
    await copied(5, 0, 'slot.v1.SlotService/CreateSlot');
    expect(await found()).toEqual([]);
  });

  it('Whatever is beyond its limit is named', async () => {
    await redeem(`(1, 2, 'i', 'USED', null), (2, 1, 'j', 'HELD', 5), (4, 1, 'k', 'HELD', 5), (4, 1, 'k', 'HELD', 5),
      (3, 1, 'l', 'USED', null), (4, 1, 'l', 'USED', null)`);
    await copied(4, 0);
    const expected = [
      'rows beyond their limits (at most 20 of a kind; see "Doubled rows" in docs/operating.md):',
      'coupon 1: 3 live redemptions',
      'coupon 2 with user 1: 2 live redemptions',
      'coupon 4 with order k: 2 live redemptions',
      'order l: 2 live redemptions',
      'slots 2, 4 are copies for one time',
    ];
    expect(await found()).toEqual(expected);
    const { code, stdout } = await runProgram('shared/db/migrate-main.ts', [], { DATABASE_URL: database.url });
    expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
      code: 0,
      lines: ['nothing to migrate', ...expected],
    });
  });

  it('At most 20 of a kind are named', async () => {
    const orders = Array.from({ length: 25 }, (_none, n) => `(4, ${n + 10}, 'm-${n}', 'USED', null)`);
    await redeem([...orders, ...orders].join());
    const [heading, ...lines] = await found();
    expect(heading).toContain('at most 20 of a kind');
    expect(lines.filter((line) => line.startsWith('coupon'))).toHaveLength(20);
    expect(lines.at(-1)).toBe('slots 2, 4 are copies for one time');
  });

  it('Where they can’t be looked for, that is told', async () => {
    await database.sql('alter table audit_entries rename to hidden');
    expect(await found()).toEqual(['doubled rows were not looked for: relation "audit_entries" does not exist']);
  });
});
