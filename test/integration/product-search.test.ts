import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalogHandlers } from '../../services/slot-service/handlers.ts';
import type { Database } from '../../shared/db/database.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool, rowsReadBy } from '../support/rows-read.ts';

/** A table with more rows than a search reads before it asks the index: what it finds must be what a plain scan finds. */
describe('Searches of 12,000 products', () => {
  const rows = 12_000;
  const { searchProducts, getProducts } = CatalogService.method;
  const call = staffCall(searchProducts);
  let own: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    own = await createDatabase();
    database = openPool(own.url);
    // Every kind of term: in all rows, in the first by name, in the last, in a few anywhere, in none.
    await own.sql(`insert into products (id, name, images)
      select 3 * n, case when n <= 5 then 'ZLast~' || n when n > ${rows - 5} then 'AFirst~' || n
        when n % 1999 = 0 then 'Few%_\\' || n else 'P-' || n end, array['image ' || n]
      from generate_series(1, ${rows}) n`);
    await own.sql('analyze');
  });
  afterAll(async () => {
    await database.close();
    await own.close();
  });

  const search = async (pool: Database, request: { search?: string; offset?: number; limit?: number }) => {
    const answer = await createCatalogHandlers({ database: pool }).searchProducts(
      create(searchProducts.input, request),
      call,
    );
    return (await responseOf(searchProducts, answer)).products;
  };

  it.each('P p- 11 777 3 333 36000 35997 35998 ZLast~ zla ~1 AFIRST few %_\\ % Q qq P-119 ~ t~ 30'.split(' '))(
    'A search of products finds the first 1,000 with %j in their name or as their id, at any offset',
    async (term) => {
      const expected = await own.sql<{ id: number; name: string; images: string[] }>(
        `select id, name, images from products where strpos(lower(name), lower($1)) > 0 or id::text = $1
       order by name, id limit 1000`,
        [term],
      );
      for (const offset of [0, 3, 100, expected.length - 2, 998, 11_000].filter((place) => place >= 0)) {
        const products = await search(database, { search: term, offset, limit: 10 });
        expect(products).toMatchObject(expected.slice(offset, offset + 10));
        expect(products).toHaveLength(expected.slice(offset, offset + 10).length);
      }
    },
  );

  it('A page of products by name reads no rows but its own', async () => {
    const read = await rowsReadBy(own, 'products', async (pool) => {
      expect(await search(pool, { offset: 11_000, limit: 10 })).toHaveLength(10);
    });
    expect(read).toBe(10);
  });

  // Of 12,000: the rows that are tried and sampled, and those of the page.
  const fewRows = 1_000;

  it.each([
    ['in nearly all', 'P-', 20],
    ['in the last ones by name', 'zlast', 5],
    ['in a few', 'few', 6],
    ['the id of one', '35997', 1],
    ['in none', 'qqq', 0],
    ['in none, of one character', 'Q', 0],
  ])('A search for a term that is %s reads few rows', async (_where, term, count) => {
    const read = await rowsReadBy(own, 'products', async (pool) => {
      expect(await search(pool, { search: term })).toHaveLength(count);
    });
    expect(read).toBeLessThan(fewRows);
  });

  it('Products by their ids read no rows but their own', async () => {
    const read = await rowsReadBy(own, 'products', async (pool) => {
      const request = create(getProducts.input, { productIds: [3, 6, 9, 4] });
      const answer = await createCatalogHandlers({ database: pool }).getProducts(request, call);
      expect((await responseOf(getProducts, answer)).products).toHaveLength(3);
    });
    expect(read).toBe(3);
  });
});
