import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCouponHandlers } from '../../services/coupon-service/handlers.ts';
import type { Database } from '../../shared/db/database.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { readPages } from '../support/pages.ts';
import { openPool, rowsReadBy } from '../support/rows-read.ts';

interface Page {
  search: string;
  pageToken: string;
  limit: number;
  cursor?: number;
}

/**
 * Searches of tables with more rows than a search reads before it asks the index: what they find
 * must be what a plain scan finds.
 */
describe('Searches of large tables', () => {
  const rows = 12_000;
  let own: TestDatabase;
  let database: Database;
  let coupons: ReturnType<typeof createCouponHandlers>;

  beforeAll(async () => {
    own = await createDatabase();
    database = openPool(own.url);
    coupons = createCouponHandlers({ database, codePrefix: 'DC', missLimit: undefined });
    // Every kind of term: in all rows, in the latest, in the oldest, in a few anywhere, in none.
    const code = `case when n <= 5 then 'Oldest~' || n when n > ${rows - 5} then 'Latest~' || n
      when n % 1999 = 0 then 'Few%_\\' || n else 'C-' || n end`;
    await own.sql(`insert into staff_users (id, name) values (1, 'Asha')`);
    await own.sql(`insert into coupons (coupon_code, created_by, created_at)
      select ${code}, 1, timestamptz '2026-01-01' + (n / 3) * interval '1 second' from generate_series(1, ${rows}) n`);
    await own.sql(`insert into reserved_coupons (secret_code, coupon_code, created_by, created_at)
      select 'S' || n, ${code}, 1, timestamptz '2026-01-01' + (n / 3) * interval '1 second'
      from generate_series(1, ${rows}) n`);
    await own.sql(`insert into users (name, mobile)
      select case when n % 100 = 7 then null else ${code} end, lpad((n * 7)::text, 10, '9')
      from generate_series(1, ${rows}) n`);
    await own.sql('analyze');
  });

  afterAll(async () => {
    await database.close();
    await own.close();
  });

  const terms = 'C c- 11 777 Oldest~ old ~1 LATEST few %_\\ % Q qq C-119 ~ s~'.split(' ');
  const ilike = (columns: string[], place: string) =>
    columns.map((column) => `strpos(lower(${column}), lower(${place})) > 0`).join(' or ');

  const { getAll, getReservedCoupons, getUsersMiniInfo } = CouponService.method;
  const call = staffCall(getAll);

  it.each(terms)('A search of coupons and reserved coupons finds %j, page by page', async (search) => {
    const listings = [
      {
        list: async (page: Page) => responseOf(getAll, await coupons.getAll(create(getAll.input, page), call)),
        table: 'coupons',
        columns: ['coupon_code'],
      },
      {
        list: async (page: Page) =>
          responseOf(
            getReservedCoupons,
            await coupons.getReservedCoupons(create(getReservedCoupons.input, page), call),
          ),
        table: 'reserved_coupons',
        columns: ['secret_code', 'coupon_code'],
      },
    ];
    for (const { list, table, columns } of listings) {
      const expected = await own.sql<{ id: number }>(
        `select id from ${table} where ${ilike(columns, '$1')} order by created_at desc, id desc`,
        [search],
      );
      // Several pages for common terms.
      const limit = Math.max(20, Math.ceil(expected.length / 20));
      const pages = await readPages(async (pageToken) => {
        const { coupons: page, nextPageToken } = await list({ search, pageToken, limit });
        return { ids: page.map(({ id }) => id), nextPageToken };
      });
      const found = pages.flatMap(({ ids }) => ids);
      expect(found).toEqual(expected.map(({ id }) => id));
      const below = await list({ search, pageToken: '', cursor: 50, limit: 10 });
      const ids = expected.flatMap(({ id }) => (id < 50 ? [id] : []));
      expect(below.coupons.map(({ id }) => id)).toEqual(ids.slice(0, 10));
      expect(below.nextCursor).toBe(ids[10]);
    }
  });

  it.each(terms)('A search of users finds the first 1,000 with %j, at any offset', async (search) => {
    const expected = await own.sql<{ id: number }>(
      `select id from users where ${ilike(['name', 'mobile'], '$1')} order by name asc nulls last, id limit 1000`,
      [search],
    );
    for (const offset of [0, 3, 100, expected.length - 2, 998, 11_000].filter((place) => place >= 0)) {
      const request = create(getUsersMiniInfo.input, { search, offset, limit: 10 });
      const { users } = await responseOf(getUsersMiniInfo, await coupons.getUsersMiniInfo(request, call));
      expect(users.map(({ id }) => id)).toEqual(expected.slice(offset, offset + 10).map(({ id }) => id));
    }
  });

  /** How many rows of a table a read reads. */
  const rowsReadFrom = (table: string, read: (handlers: typeof coupons) => Promise<unknown>) =>
    rowsReadBy(own, table, (pool) =>
      read(createCouponHandlers({ database: pool, codePrefix: 'DC', missLimit: undefined })),
    );

  it('A page of users by name reads no row of the users before it', async () => {
    const read = await rowsReadFrom('users', async (handlers) => {
      const request = create(getUsersMiniInfo.input, { offset: 11_000, limit: 10 });
      const { users } = await responseOf(getUsersMiniInfo, await handlers.getUsersMiniInfo(request, call));
      expect(users).toHaveLength(10);
    });
    expect(read).toBe(0);
  });

  // Of 12,000.
  const fewRows = 2_000;

  /** How many rows of coupons a search reads that has to find so many. */
  const rowsReadBySearch = (request: { search: string; cursor?: number }, count: number) =>
    rowsReadFrom('coupons', async (handlers) => {
      const { coupons: found } = await responseOf(getAll, await handlers.getAll(create(getAll.input, request), call));
      expect(found).toHaveLength(count);
    });

  it('The last page of a term that is in nearly all rows reads few rows', async () => {
    expect(await rowsReadBySearch({ search: 'C-', cursor: 30 }, 24)).toBeLessThan(fewRows);
  });

  it.each([
    [1_000, fewRows],
    // The term is in 12,000 rows, all of which the index would read.
    [6_000, 8_000],
  ])(
    'A search for a term that is in nearly all rows but the latest %i scans on to it, and reads few rows',
    async (campaign, bound) => {
      await own.sql(
        `insert into coupons (coupon_code, created_by, created_at)
       select 'Campaign ' || n, 1, timestamptz '2027-01-01' + n * interval '1 second' from generate_series(1, $1::integer) n`,
        [campaign],
      );
      // PostgreSQL does so by itself, in time.
      await own.sql('analyze coupons');
      const read = await rowsReadBySearch({ search: 'C-' }, 50);
      await own.sql(`delete from coupons where coupon_code like 'Campaign %'`);
      expect(read).toBeLessThan(bound);
    },
  );
});
