import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { couponContract, slotContract } from '../support/contract.ts';
import { idOf } from '../support/database.ts';
import { whileHeld } from '../support/locks.ts';
import { newName } from '../support/mutations.ts';
import type { TestService } from '../support/service.ts';

const isElsewhere = Boolean(process.env.TEST_DATABASE_URL);
const reason = isElsewhere ? ' (skipped: the log of TEST_DATABASE_URL is elsewhere)' : '';

/** What PostgreSQL has logged so far. */
async function serverLog(sql: TestService['database']['sql']): Promise<string> {
  const [setting] = await sql<{ data_directory: string }>('show data_directory');
  return readFile(path.join(setting?.data_directory ?? '', '../postgres.log'), 'utf8');
}

/** Makes a call that waits for a transaction, which then takes the code. */
const lose = async (databaseUrl: string, insert: string, call: () => Promise<unknown>) =>
  whileHeld(databaseUrl, insert, call).then(
    () => undefined,
    () => undefined,
  );

couponContract('Races for coupon codes', (api) => {
  it.skipIf(isElsewhere)(
    `The log of PostgreSQL shows no code and no mobile number after races for them${reason}`,
    async () => {
      const [user] = await api.sql<{ id: number }>(
        `insert into users (mobile, name) values ('7' || (random() * 1e8)::integer, 'Zoë') returning id`,
      );
      const orderId = await idOf(api.sql, 'insert into orders (user_id, total_amount) values ($1, 10) returning id', [
        user?.id,
      ]);
      const [couponCode, secretCode, mobile] = [newName('RACED'), newName('SECRET'), `77${Date.now()}`.slice(0, 10)];
      const coupon = (code: string) => `insert into coupons (coupon_code, created_by) values ('${code}', 1)`;
      const { databaseUrl, staff } = api;
      await lose(databaseUrl, coupon(couponCode), () => staff.create({ coupon: { couponCode, flatDiscount: 1 } }));
      await lose(databaseUrl, coupon(`ZOË${orderId}`), () => staff.generateCancellationCoupon({ orderId }));
      await lose(
        databaseUrl,
        `insert into reserved_coupons (secret_code, coupon_code, created_by) values ('${secretCode}', 'X', 1)`,
        () => staff.createReservedCoupon({ coupon: { couponCode: secretCode, flatDiscount: 1 } }),
      );
      await lose(databaseUrl, `insert into users (mobile) values ('${mobile}')`, () => staff.createCoupon({ mobile }));
      const log = await serverLog(api.sql);
      for (const secret of [couponCode, secretCode, mobile, `ZOË${orderId}`]) expect(log).not.toContain(`(${secret})`);
    },
  );
});

slotContract('Races for snippet names', (api) => {
  it.skipIf(isElsewhere)(
    `The log of PostgreSQL shows no name after races for it, and the write that lost is undone${reason}`,
    async () => {
      const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };
      const { slot } = await api.staff.createSlot(times);
      const before = await api.sql('select * from slots order by id');
      for (const call of [api.staff.createSlot, api.staff.updateSlot]) {
        const [name, free] = [newName('raced'), newName('free')];
        const vendorSnippets = [free, name].map((each) => ({ name: each, productIds: [1] }));
        await lose(
          api.databaseUrl,
          `insert into vendor_snippets (slot_id, snippet_code, product_ids) values (${slot?.id}, '${name}', '{1}')`,
          () => call({ id: slot?.id ?? 0, ...times, isActive: false, vendorSnippets }),
        );
        expect(await api.sql('select * from slots order by id')).toEqual(before);
        expect(await api.sql('select from vendor_snippets where snippet_code = $1', [free])).toEqual([]);
        expect(await serverLog(api.sql)).not.toContain(`(${name})`);
      }
    },
  );
});
