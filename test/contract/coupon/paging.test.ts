import { beforeEach, describe, expect, it } from 'vitest';
import { couponContract, expectInvalidField, failureOf } from '../../support/contract.ts';
import { readPages } from '../../support/pages.ts';

interface Asked {
  cursor?: number;
  limit?: number;
  search?: string;
  userId?: number;
  pageToken?: string;
  withTotal?: boolean;
}

/** GetAll and GetReservedCoupons page in the same way (spec 4.2, design 2 and 7). */
couponContract('Paging', (api) => {
  const list = {
    GetAll: async (asked: Asked) => api.guest.getAll(asked),
    GetReservedCoupons: async (asked: Asked) => api.guest.getReservedCoupons(asked),
  };
  const cases = [
    {
      procedure: 'GetAll',
      table: 'coupons',
      code: 'coupon_code',
      more: '',
      give: 'insert into coupon_applicable_users (coupon_id, user_id) select unnest($1::integer[]), $2',
    },
    {
      procedure: 'GetReservedCoupons',
      table: 'reserved_coupons',
      code: 'secret_code',
      more: 'coupon_code,',
      give: 'update reserved_coupons set redeemed_by = $2 where id = any($1)',
    },
  ] as const;

  describe.each(cases)('$procedure', ({ procedure, table, code, more, give }) => {
    const page = async (asked: Asked) => {
      const { coupons, nextCursor, nextPageToken } = await list[procedure](asked);
      return { ids: coupons.map(({ id }) => id), nextCursor, nextPageToken };
    };
    /** Adds a row with an id, a code, and a creation time in microseconds after a fixed moment. */
    const add = (id: number, micros: number, text = `CODE-${id}`) =>
      api.sql(
        `insert into ${table} (id, ${code}, ${more} created_by, created_at)
         values ($1, $2, ${more === '' ? '' : "'other',"} 1,
           timestamptz '2026-01-01T00:00:00Z' + $3::integer * interval '1 microsecond')`,
        [id, text, micros],
      );
    /** Makes rows those of a user. */
    const giveTo = (userId: number, ids: number[]) => api.sql(give, [ids, userId]);
    /** The ids of all pages; a cursor is given with the first one alone. */
    const walk = async ({ pageToken: from, ...asked }: Asked, between?: (pages: number) => Promise<unknown>) => {
      const { cursor: _, ...rest } = asked;
      const read = (pageToken: string) => page(pageToken === '' ? asked : { ...rest, pageToken });
      return (await readPages(read, { ...(from && { from }), ...(between && { between }) })).flatMap(({ ids }) => ids);
    };

    beforeEach(async () => {
      await api.sql(`truncate ${table} cascade`);
    });

    it('A page has the latest 50 rows, and next_cursor is the id of the row after them', async () => {
      for (let id = 1; id <= 51; id += 1) await add(id, id);
      const descending = Array.from({ length: 51 }, (_, index) => 51 - index);
      const first = await page({});
      expect(first).toMatchObject({ ids: descending.slice(0, 50), nextCursor: 1 });
      expect(first.nextPageToken).not.toBe('');
      expect(await page({ limit: 51 })).toEqual({ ids: descending, nextCursor: undefined, nextPageToken: '' });
      expect(await page({ limit: 2 ** 31 - 1 })).toMatchObject({ ids: descending, nextCursor: undefined });
    });

    it('A total counts what matches, whatever the page, up to 10,001, and only if it is asked for', async () => {
      for (let id = 1; id <= 3; id += 1) await add(id, id);
      await giveTo(2, [1, 3]);
      const totalOf = async (asked: Asked) => (await list[procedure]({ ...asked, withTotal: true })).total;
      const { nextPageToken } = await page({ limit: 2 });
      expect(await totalOf({})).toBe(3);
      expect(await totalOf({ limit: 0 })).toBe(3);
      expect(await totalOf({ pageToken: nextPageToken })).toBe(3);
      expect(await totalOf({ cursor: 2 })).toBe(3);
      expect(await totalOf({ search: 'code-2' })).toBe(1);
      expect(await totalOf({ userId: 2 })).toBe(2);
      expect(await totalOf({ userId: 2, search: '3' })).toBe(1);
      expect((await list[procedure]({})).total).toBeUndefined();
      await api.sql(
        `insert into ${table} (id, ${code}, ${more} created_by)
         select id, 'CODE-' || id, ${more === '' ? '' : "'other',"} 1 from generate_series(4, 10002) id`,
      );
      expect([await totalOf({}), await totalOf({ search: 'code' })]).toEqual([10_001, 10_001]);
      await api.sql(`delete from ${table} where id > 10000`);
      expect([await totalOf({}), await totalOf({ search: 'code' })]).toEqual([10_000, 10_000]);
    });

    it('A page of more than 1,000 rows is cut to 1,000, and no row is lost after it', async () => {
      await api.sql(
        `insert into ${table} (id, ${code}, ${more} created_by)
         select id, 'CODE-' || id, ${more === '' ? '' : "'other',"} 1 from generate_series(1, 2001) id`,
      );
      const descending = Array.from({ length: 2_001 }, (_, index) => 2_001 - index);
      const first = await page({ limit: 2 ** 31 - 1 });
      expect(first).toMatchObject({ ids: descending.slice(0, 1_000), nextCursor: 1_001 });
      expect(await walk({ limit: 2 ** 31 - 1 })).toEqual(descending);
      expect(await walk({ limit: 1_001, search: 'code' })).toEqual(descending);
      expect(await page({ limit: 1_000, cursor: 1_001 })).toMatchObject({
        ids: descending.slice(-1_000),
        nextCursor: undefined,
      });
    });

    it('A page has all its rows, also where each has 99,000 product ids, of which it shows 100', async () => {
      for (let id = 1; id <= 51; id += 1) await add(id, id);
      await api.sql(`update ${table} set product_ids = array(select generate_series(1, 99000)) where id > 46`);
      expect(await page({})).toMatchObject({ ids: Array.from({ length: 50 }, (_, n) => 51 - n), nextCursor: 1 });
      const [largest] = (await list[procedure]({ limit: 1 })).coupons;
      expect(largest?.productIds?.ids).toHaveLength(100);
      expect(largest?.productIdsCount).toBe(99_000);
    });

    it('A cursor lists the rows with ids below it, and a cursor of 0 counts as none', async () => {
      // The latest first: 4, 1, 5, 2, 3.
      for (const [index, id] of [3, 2, 5, 1, 4].entries()) await add(id, index);
      expect(await page({ limit: 2 })).toMatchObject({ ids: [4, 1], nextCursor: 5 });
      expect(await page({ limit: 2, cursor: 5 })).toMatchObject({ ids: [4, 1], nextCursor: 2 });
      expect(await page({ limit: 2, cursor: 2 })).toMatchObject({ ids: [1], nextCursor: undefined });
      expect(await page({ limit: 9, cursor: 0 })).toMatchObject({ ids: [4, 1, 5, 2, 3] });
      expect(await page({ limit: 9, cursor: -1 })).toMatchObject({ ids: [] });
      // The page tokens that follow a cursor stay below it.
      expect(await walk({ limit: 1, cursor: 4 })).toEqual([1, 2, 3]);
    });

    it('A limit of 0 gives an empty page, and no row is lost after it', async () => {
      expect(await page({ limit: 0 })).toEqual({ ids: [], nextCursor: undefined, nextPageToken: '' });
      for (const id of [1, 2, 3]) await add(id, id);
      const none = await page({ limit: 0 });
      expect(none).toMatchObject({ ids: [], nextCursor: 3 });
      expect(await walk({ limit: 2, pageToken: none.nextPageToken })).toEqual([3, 2, 1]);
      const { nextPageToken } = await page({ limit: 1 });
      const between = await page({ limit: 0, pageToken: nextPageToken });
      expect(between).toMatchObject({ ids: [], nextCursor: 2 });
      expect(await walk({ limit: 2, pageToken: between.nextPageToken })).toEqual([2, 1]);
      await expectInvalidField(list[procedure]({ limit: -1 }), 'limit');
    });

    it.each([1, 2, 3, 7])('Pages of %i rows with equal times lose and repeat no row', async (limit) => {
      for (let id = 1; id <= 12; id += 1) await add(id, id <= 8 ? 5 : 6);
      expect(await walk({ limit })).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    });

    it('Rows whose times differ by a microsecond are ordered by time', async () => {
      for (let id = 1; id <= 6; id += 1) await add(id, 100 - id);
      expect(await walk({ limit: 1 })).toEqual([1, 2, 3, 4, 5, 6]);
    });

    it('Pages lose and repeat no row while rows are added and deleted', async () => {
      for (let id = 1; id <= 20; id += 1) await add(id, Math.floor(id / 4));
      const seen = await walk({ limit: 3 }, async (pages) => {
        await add(100 + pages, 1_000 + pages);
        // A row of an earlier page, and the row that the token names.
        await api.sql(`delete from ${table} where id in ($1, $2)`, [21 - 3 * pages, 20 - pages]);
      });
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.every((id) => id <= 20)).toBe(true);
      const left = await api.sql(`select id from ${table} where id <= 20`);
      expect(seen).toEqual(expect.arrayContaining(left.map(({ id }) => id)));
    });

    it.each([
      ['summer', ['Summer-25', 'MIDSUMMER']],
      ['SUM', ['Summer-25', 'MIDSUMMER']],
      ['su', ['Summer-25', 'MIDSUMMER']],
      ['5', ['Summer-25', '50%_OFF']],
      ['0%', ['50%_OFF']],
      ['%', ['50%_OFF']],
      ['_', ['50%_OFF']],
      ['%_O', ['50%_OFF']],
      ['\\', ['BACK\\SLASH']],
      ['k\\S', ['BACK\\SLASH']],
      ['r-2', ['Summer-25']],
      [' 1', ['SPACE 1']],
      ['ÇA', ['ÇA-VA']],
      ['😀', ['SMILE😀']],
      ['1 ', []],
      ['zzz', []],
      ['zz', []],
      ['~', []],
      ['---', []],
    ])('A search for %j finds the codes that contain it', async (search, expected) => {
      const codes = ['Summer-25', 'MIDSUMMER', '50%_OFF', 'BACK\\SLASH', 'SPACE 1', 'ÇA-VA', 'SMILE😀'];
      for (const [index, text] of codes.entries()) await add(index + 1, -index, text);
      const found = expected.map((text) => codes.indexOf(text) + 1);
      expect((await page({ search })).ids).toEqual(found);
      expect(await walk({ search, limit: 1 })).toEqual(found);
      expect((await page({ search, cursor: 2 })).ids).toEqual(found.filter((id) => id < 2));
    });

    it.each(['', ' ', '\t \n'])('The blank search %j counts as none', async (search) => {
      await add(1, 1);
      await add(2, 2);
      expect((await page({ search })).ids).toEqual([2, 1]);
      const { nextPageToken } = await page({ search, limit: 1 });
      expect((await page({ pageToken: nextPageToken })).ids).toEqual([1]);
    });

    it('A page token that is garbled, or from another search or procedure, is refused', async () => {
      for (const id of [1, 2, 3]) await add(id, id);
      const { nextPageToken: token } = await page({ limit: 1, search: 'code' });
      expect((await page({ search: 'code', pageToken: token, cursor: 0 })).ids).toEqual([2, 1]);
      const flipped = token.replace(/^./, (first) => (first === 'M' ? 'N' : 'M'));
      const garbled = [flipped, `${token}A`, `${token}=`, token.slice(0, -1), 'garbled', '!', '💥', 'MS4yLjM'];
      for (const pageToken of garbled) {
        await expectInvalidField(list[procedure]({ search: 'code', pageToken }), 'page_token');
      }
      await expectInvalidField(list[procedure]({ search: 'CODE-', pageToken: token }), 'page_token');
      await expectInvalidField(list[procedure]({ pageToken: token }), 'page_token');
      const other = procedure === 'GetAll' ? 'GetReservedCoupons' : 'GetAll';
      await expectInvalidField(list[other]({ search: 'code', pageToken: token }), 'page_token');
    });

    it('With a user the rows of that user are listed, and no others', async () => {
      for (let id = 1; id <= 4; id += 1) await add(id, id);
      await giveTo(1, [1, 2, 4]);
      await giveTo(2, [3]);
      expect(await page({ userId: 1 })).toEqual({ ids: [4, 2, 1], nextCursor: undefined, nextPageToken: '' });
      expect((await page({ userId: 2 })).ids).toEqual([3]);
      for (const userId of [3, 4711, 0, -1]) expect((await page({ userId })).ids).toEqual([]);
      expect((await page({})).ids).toEqual([4, 3, 2, 1]);
    });

    it('A user is combined with a search, a limit, a cursor and page tokens', async () => {
      for (let id = 1; id <= 9; id += 1) await add(id, 100 - id, `${id % 2 === 0 ? 'Even' : 'Odd'}-${id}`);
      await giveTo(1, [1, 2, 4, 6, 7, 8]);
      expect(await page({ userId: 1, limit: 2 })).toMatchObject({ ids: [1, 2], nextCursor: 4 });
      expect(await walk({ userId: 1, limit: 2 })).toEqual([1, 2, 4, 6, 7, 8]);
      expect(await walk({ userId: 1, limit: 1, search: 'eVEN' })).toEqual([2, 4, 6, 8]);
      expect(await walk({ userId: 1, limit: 1, search: 'even', cursor: 8 })).toEqual([2, 4, 6]);
      for (const search of ['-9', '%', '_']) expect((await page({ userId: 1, search })).ids).toEqual([]);
      expect((await page({ userId: 1, search: ' ' })).ids).toEqual([1, 2, 4, 6, 7, 8]);
    });

    it('A page token of a user is refused for another one and for all, as is one of all for a user', async () => {
      for (const id of [1, 2, 3]) await add(id, id);
      await giveTo(1, [1, 2, 3]);
      const { nextPageToken: pageToken } = await page({ userId: 1, limit: 1 });
      expect((await page({ userId: 1, pageToken })).ids).toEqual([2, 1]);
      const { nextPageToken: ofAll } = await page({ limit: 1 });
      const refused = [{ pageToken }, { userId: 2, pageToken }, { userId: 1, search: 'code', pageToken }];
      for (const asked of [...refused, { userId: 1, pageToken: ofAll }]) {
        await expectInvalidField(list[procedure](asked), 'page_token');
      }
    });

    it('A cursor together with a page token is refused', async () => {
      for (const id of [1, 2]) await add(id, id);
      const { nextPageToken: pageToken } = await page({ limit: 1 });
      const error = await failureOf(list[procedure]({ cursor: 2, pageToken }));
      expect(error.rawMessage).toContain("cursor can't be given together with page_token");
    });

    it.each([{ search: 'x'.repeat(201) }, { search: 'a\0b' }])(
      'A search that is too long or contains NUL is refused',
      async (asked) => {
        await expectInvalidField(list[procedure](asked), 'search');
      },
    );
  });
});
