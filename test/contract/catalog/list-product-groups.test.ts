import { createClient } from '@connectrpc/connect';
import { beforeEach, expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectError, slotContract } from '../../support/contract.ts';

slotContract('ListProductGroups', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));

  beforeEach(() => api.sql('delete from product_groups'));

  it('All product groups are listed, ordered by name, then id', async () => {
    await api.sql(
      `insert into product_groups (id, name) values (4, 'Fruits'), (2, 'Snacks'), (3, 'Dairy'), (1, 'Snacks')`,
    );
    const { groups } = await catalog().listProductGroups({});
    expect(groups).toMatchObject([
      { id: 3, name: 'Dairy' },
      { id: 4, name: 'Fruits' },
      { id: 1, name: 'Snacks' },
      { id: 2, name: 'Snacks' },
    ]);
  });

  it('The list is empty when there is no group', async () => {
    expect((await catalog().listProductGroups({})).groups).toEqual([]);
  });

  it('10,000 groups are listed, and more are refused', async () => {
    await api.sql(`insert into product_groups (id, name) select n, 'Group' from generate_series(1, 10000) n`);
    const { groups } = await catalog().listProductGroups({});
    expect(groups.map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1));
    await api.sql(`insert into product_groups (id, name) values (10001, 'Group')`);
    await expectError(catalog().listProductGroups({}), 'ANSWER_TOO_LARGE');
  });
});
