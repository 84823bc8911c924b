import { create } from '@bufbuild/protobuf';
import { LRUCache } from 'lru-cache';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCouponHandlers, createRedemptionHandlers } from '../../services/coupon-service/handlers.ts';
import { redemptionOutcomes } from '../../services/coupon-service/redemptions/redemption.ts';
import { createCatalogHandlers } from '../../services/slot-service/handlers.ts';
import type { Database } from '../../shared/db/database.ts';
import { statement } from '../../shared/db/statement.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { Outcomes } from '../../shared/holds/outcomes.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { expectError } from '../support/contract.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { rowsReadBy } from '../support/rows-read.ts';

type Guess = (api: ReturnType<typeof createRedemptionHandlers>, code: string) => Promise<unknown>;

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
      insert into coupons (id, coupon_code, created_by) select n, upper('Code-' || n), 1 from generate_series(1, 12000) n;
      insert into coupon_applicable_users (coupon_id, user_id) select n, n % 4000 + 1 from generate_series(1, 12000) n;
      insert into order_statuses (order_id, refund_coupon_id) select n, n from generate_series(1, 12000) n;
      insert into reserved_coupons (secret_code, coupon_code, created_by, redeemed_by)
        select 'SECRET-' || n, 'Code', 1, case when n % 2 = 0 then n % 4000 + 1 end from generate_series(1, 12000) n`);
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

  describe('A call whose user is unknown', () => {
    const { redeem, check, claim } = RedemptionService.method;
    const redemptionsOf = (database: Database) =>
      createRedemptionHandlers({
        ...{ database, missLimit: undefined, outcomes: new Outcomes(redemptionOutcomes), timeZone: 'UTC' },
        ...{
          limitedCodes: new LRUCache<string, true>({ max: 1 }),
          currencyDigits: undefined,
          unsent: async () => ({}),
        },
      });
    const user = { userId: 12_001 };
    const lines = Array.from({ length: 12 }, (_line, n) => ({ productExternalId: `P-${n + 1}`, amount: 1 }));
    const order = { ...user, lines, orderKey: 'order', orderAmount: 12 };
    const redeemed: Guess = (api, code) => api.redeem(create(redeem.input, { ...order, code }), call);
    const checked: Guess = (api, code) => api.check(create(check.input, { ...order, code }), call);
    const claimed: Guess = (api, secretCode) => api.claim(create(claim.input, { ...user, secretCode }), call);
    beforeAll(() =>
      own.sql(`
        insert into products (id, name, external_id) select n, '', 'P-' || n from generate_series(1, 12) n;
        insert into coupon_applicable_products (coupon_id, product_id) select 1, n from generate_series(1, 12) n;
        insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
          select id, n from reserved_coupons, generate_series(1, 12) n where secret_code = 'SECRET-1'`),
    );

    it.each([
      ['Redeem', 'products', 'CODE-1', redeemed],
      ['Redeem', 'coupon_applicable_products', 'CODE-1', redeemed],
      ['Check', 'products', 'CODE-1', checked],
      ['Check', 'coupon_applicable_products', 'CODE-1', checked],
      ['Claim', 'reserved_coupon_applicable_products', 'SECRET-1', claimed],
    ])(
      'A %s reads none of %s, whether or not its code exists, so that its time tells nothing',
      async (_what, table, code, guess) => {
        for (const guessed of [code, 'NONE']) {
          const read = (pool: Database) => expectError(guess(redemptionsOf(pool), guessed), 'USER_NOT_FOUND');
          expect(await rowsReadBy(own, table, read, 'entries')).toBe(0);
        }
      },
    );
  });

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
      expect(coupons.map(({ secretCode }) => secretCode)).toEqual(['SECRET-8006', 'SECRET-4006', 'SECRET-6']);
    });
    expect(read).toBe(3);
  });
});
