import { createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectInvalidField, slotContract } from '../../support/contract.ts';

slotContract('SearchProducts', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));
  const ids = async (request: Parameters<ReturnType<typeof catalog>['searchProducts']>[0]) =>
    (await catalog().searchProducts(request)).products.map((product) => product.id);

  describe('Of products with names of every kind', () => {
    beforeAll(async () => {
      await api.sql('delete from products');
      await api.sql(`insert into products (id, name, images) values
        (311, 'Zucchini', '{a.jpg,b.jpg}'), (312, 'Bread_10%', '{}'), (313, '', '{}'), (315, 'Zucchini', '{}'),
        (316, 'back\\slash', '{}'), (317, 'Bread 100', '{}'), (318, 'Box of 317', '{}')`);
      await api.sql(`insert into products (id, name) select 1000 + n, 'Row ' || n from generate_series(1, 60) n`);
    });

    it('Products are shown with their images, ordered by name, then id', async () => {
      const { products } = await catalog().searchProducts({ search: 'ZUC' });
      expect(products).toMatchObject([
        { id: 311, name: 'Zucchini', images: ['a.jpg', 'b.jpg'] },
        { id: 315, name: 'Zucchini', images: [] },
      ]);
      expect(await ids({ search: 'B' })).toEqual([316, 318, 317, 312]);
    });

    it('Without limit and offset, the first 20 products are listed', async () => {
      const all = [...(await ids({ limit: 50 })), ...(await ids({ limit: 50, offset: 50 }))];
      const expected = await api.sql<{ id: number }>('select id from products order by name collate "und-x-icu", id');
      expect(all).toEqual(expected.map(({ id }) => id));
      expect(await ids({})).toEqual(all.slice(0, 20));
      expect(await ids({ limit: 3, offset: 2 })).toEqual(all.slice(2, 5));
      expect(await ids({ offset: 67 })).toEqual([]);
      expect(await ids({ offset: 2 ** 31 - 1 })).toEqual([]);
    });

    it.each([
      ['zuc', [311, 315]],
      ['ZUCCHINI', [311, 315]],
      ['z', [311, 315]],
      ['Zu', [311, 315]],
      ['%', [312]],
      ['_1', [312]],
      ['d_', [312]],
      ['\\', [316]],
      ['k\\s', [316]],
      ['d 1', [317]],
      ['d  1', []],
      ['jpg', []],
      ['q', []],
      ['qq', []],
      ['qqq', []],
    ])('A search for %j finds names that contain it', async (search, expected) => {
      expect(await ids({ search })).toEqual(expected);
    });

    it.each([
      ['311', [311]],
      ['313', [313]],
      ['317', [318, 317]],
      ['0000000317', [317]],
      ['1060', [1060]],
      ['31', [1031, 318]],
      ['314', []],
      ['2147483648', []],
      ['99999999999', []],
      ['+311', []],
      ['311.0', []],
    ])('A search for %j finds the product that has the whole text as its id', async (search, expected) => {
      expect((await ids({ search })).toSorted()).toEqual(expected.toSorted());
    });

    it('A product that is found by its id and by its name is shown once, at the place of its name', async () => {
      await api.sql(`insert into products (id, name) values (42, 'Row 42'), (43, 'A name')`);
      expect(await ids({ search: '42' })).toEqual([42, 1042]);
      expect(await ids({ search: '43' })).toEqual([43, 1043]);
      expect(await ids({ search: '43', limit: 1, offset: 1 })).toEqual([1043]);
      await api.sql('delete from products where id in (42, 43)');
    });

    it.each(['', ' ', ' \t\n'])('The blank search %j counts as none', async (search) => {
      expect(await ids({ search })).toEqual(await ids({}));
    });

    it('A search is not trimmed', async () => {
      expect(await ids({ search: ' 100' })).toEqual([317]);
      expect(await ids({ search: '100 ' })).toEqual([]);
      expect(await ids({ search: ' 311' })).toEqual([]);
    });
  });

  it.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 51 }],
    ['offset', { offset: -1 }],
    ['search', { search: 'x'.repeat(201) }],
    ['search', { search: 'a\0' }],
  ])('A value of %s that is out of bounds is refused', async (field, request) => {
    await expectInvalidField(catalog().searchProducts(request), field);
  });

  describe('Beyond what is shown', () => {
    beforeAll(async () => {
      // The index of searches would take most of the time.
      await api.sql('drop index products_search');
      await api.sql(`insert into products (id, name)
        select 10000 + n, 'Crowd ' || lpad(n::text, 7, '0') from generate_series(1, 1001) n`);
    });
    const firstOf = (count: number) => ids({ search: 'crowd', limit: 2, offset: count - 1 });

    it('The first 1,000 products of a search are shown, and a page beyond them is empty', async () => {
      expect(await firstOf(999)).toEqual([10_999, 11_000]);
      expect(await firstOf(1_000)).toEqual([11_000]);
      expect(await firstOf(1_001)).toEqual([]);
      expect(await ids({ search: 'crowd', offset: 2 ** 31 - 1 })).toEqual([]);
    });
  });
});
