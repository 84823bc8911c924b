import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCouponHandlers } from '../../services/coupon-service/handlers.ts';
import { createCatalogHandlers } from '../../services/slot-service/handlers.ts';
import type { Database } from '../../shared/db/database.ts';
import { statement } from '../../shared/db/statement.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { rowsReadBy } from '../support/rows-read.ts';

describe('Look-ups in tables of 12,000 rows', () => {
  const { getUsers, getOrders, searchSnippets } = CatalogService.method;
  const { getAll, getReservedCoupons } = CouponService.method;
  const call = staffCall(searchSnippets);
  let own: TestDatabase;

  beforeAll(async () => {
    own = await createDatabase();
    await own.sql(`
      insert into staff_users (id, name) values (1, 'Asha');
      insert into slots (id, delivery_time, freeze_time) values (1, now(), now());
      insert into vendor_snippets (snippet_code, slot_id, product_ids)
        select case when n % 4000 = 0 then 'Few-' else 'Many-' end || n, 1, '{}' from generate_series(1, 12000) n;
      insert into users (id, name, mobile) select n, 'User ' || n, n from generate_series(1, 12000) n;
      insert into orders (id, user_id, total_amount) select n, n, n from generate_series(1, 12000) n;
      insert into coupons (id, coupon_code, created_by) select n, 'Code-' || n, 1 from generate_series(1, 12000) n;
      insert into coupon_applicable_users (coupon_id, user_id) select n, n % 4000 + 1 from generate_series(1, 12000) n;
      insert into order_statuses (order_id, refund_coupon_id) select n, n from generate_series(1, 12000) n;
      insert into reserved_coupons (secret_code, coupon_code, created_by, redeemed_by)
        select 'Secret-' || n, 'Code', 1, case when n % 2 = 0 then n % 4000 + 1 end from generate_series(1, 12000) n`);
    await own.sql('analyze');
  });
  afterAll(() => own.close());

  const catalogOf = (database: Database) => createCatalogHandlers({ database });
  const couponsOf = (database: Database) => createCouponHandlers({ database, codePrefix: 'DC', missLimit: undefined });

  it.each([
    // As many as are shown, and one more.
    ['MANY-', 20, 21],
    ['few-', 3, 3],
    ['none', 0, 0],
  ])('A search for snippets that begin with %s shows %i, and reads %i rows', async (search, shown, expected) => {
    const read = await rowsReadBy(own, 'vendor_snippets', async (pool) => {
      const answer = await catalogOf(pool).searchSnippets(create(searchSnippets.input, { search }), call);
      expect((await responseOf(searchSnippets, answer)).snippets).toHaveLength(shown);
    });
    expect(read).toBe(expected);
  });

  it('A key reads no other keys, even where PostgreSQL last planned for a table without any', async () => {
    const read = await rowsReadBy(own, 'idempotency_keys', async (pool) => {
      const lookUp = statement('isNewKey', `select is_new_key('unknown')`);
      // PostgreSQL keeps the plan from the sixth time on.
      for (let times = 0; times < 6; times += 1) await pool.for(call).query(lookUp());
      await own.sql(`insert into idempotency_keys (id, request, answer)
        select sha256(n::text::bytea), '', '' from generate_series(1, 1000) n`);
      await pool.for(call).query(lookUp());
    });
    expect(read).toBe(0);
  });

  const ids = [5, 6, 7, 12_001];

  it('Users by their ids read no rows but their own', async () => {
    const read = await rowsReadBy(own, 'users', async (pool) => {
      const answer = await catalogOf(pool).getUsers(create(getUsers.input, { userIds: ids }), call);
      expect((await responseOf(getUsers, answer)).users).toHaveLength(3);
    });
    expect(read).toBe(3);
  });

  it.each(['orders', 'users', 'order_statuses', 'coupons'])(
    'Orders by their ids read no rows of %s but their own',
    async (table) => {
      const read = await rowsReadBy(own, table, async (pool) => {
        const answer = await catalogOf(pool).getOrders(create(getOrders.input, { orderIds: ids }), call);
        expect((await responseOf(getOrders, answer)).orders).toHaveLength(3);
      });
      expect(read).toBe(3);
    },
  );

  it('The coupons of a user read no rows but their own', async () => {
    const read = await rowsReadBy(own, 'coupons', async (pool) => {
      const answer = await couponsOf(pool).getAll(create(getAll.input, { userId: 7, search: 'code' }), call);
      expect((await responseOf(getAll, answer)).coupons.map(({ id }) => id)).toEqual([8_006, 4_006, 6]);
    });
    expect(read).toBe(3);
  });

  it('The reserved coupons that a user redeemed read no rows but their own', async () => {
    const read = await rowsReadBy(own, 'reserved_coupons', async (pool) => {
      const answer = await couponsOf(pool).getReservedCoupons(create(getReservedCoupons.input, { userId: 7 }), call);
      const { coupons } = await responseOf(getReservedCoupons, answer);
      expect(coupons.map(({ secretCode }) => secretCode)).toEqual(['Secret-8006', 'Secret-4006', 'Secret-6']);
    });
    expect(read).toBe(3);
  });
});
