import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectError, expectInvalidField, slotContract } from '../../support/contract.ts';

slotContract('GetProducts', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));
  const idsOf = async (productIds: number[]) =>
    (await catalog().getProducts({ productIds })).products.map((product) => product.id);

  beforeAll(async () => {
    await api.sql('delete from products');
    await api.sql(`insert into products (id, name, images) values
      (1, 'Pear', '{a.jpg,b.jpg}'), (2, 'Apple', '{}'), (3, 'Pear', '{}'), (4, 'Mango', '{}')`);
    await api.sql(`insert into products (id, name) select 1000 + n, 'Row' from generate_series(1, 1000) n`);
  });

  it('The products of the ids are shown with their images, ordered by name, then id', async () => {
    const { products } = await catalog().getProducts({ productIds: [3, 1, 2] });
    expect(products).toMatchObject([
      { id: 2, name: 'Apple', images: [] },
      { id: 1, name: 'Pear', images: ['a.jpg', 'b.jpg'] },
      { id: 3, name: 'Pear', images: [] },
    ]);
  });

  it('An id that no product has is left out', async () => {
    expect(await idsOf([4, 5, 0, -1, 2147483647, -2147483648])).toEqual([4]);
    expect(await idsOf([5])).toEqual([]);
  });

  it('The requested ids are taken as a set', async () => {
    expect(await idsOf([4, 1, 4, 1, 1])).toEqual([4, 1]);
    expect(await idsOf([...Array<number>(1500).fill(4), 2])).toEqual([2, 4]);
  });

  it('The response is empty when no product is requested', async () => {
    expect(await idsOf([])).toEqual([]);
  });

  it('1,000 products can be requested at once, and more are refused', async () => {
    const productIds = Array.from({ length: 1000 }, (_, index) => 1001 + index);
    expect(await idsOf(productIds)).toEqual(productIds);
    await expectInvalidField(catalog().getProducts({ productIds: [...productIds, 1] }), 'product_ids');
  });

  it('Products with more than 64 MiB of images are refused, and fewer of them are shown', async () => {
    await api.sql(`insert into products (id, name, images)
      select n, 'Large', array_fill(repeat('x', 1000000), array[10]) from generate_series(51, 57) n`);
    await expectError(catalog().getProducts({ productIds: [51, 52, 53, 54, 55, 56, 57] }), 'ANSWER_TOO_LARGE');
    expect(await idsOf([51])).toEqual([51]);
    await api.sql('delete from products where id between 51 and 57');
  });
});
