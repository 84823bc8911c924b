import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectInvalidField, slotContract } from '../../support/contract.ts';

slotContract('GetUsers', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));
  const idsOf = async (userIds: number[]) => (await catalog().getUsers({ userIds })).users.map(({ id }) => id);

  beforeAll(async () => {
    await api.sql('delete from users');
    await api.sql(`insert into users (id, name, mobile) values
      (1, 'Zara', '1'), (2, null, '2'), (3, 'émile', '3'), (4, '', '4'), (5, 'Farid', '5'), (6, 'Émile', '6'), (7, 'Zara', '7')`);
    await api.sql(`insert into users (id, mobile) select 1000 + n, 'm' || n from generate_series(1, 1000) n`);
  });

  it('The users of the ids are shown by name as people sort, then id; users without a name come last', async () => {
    const { users } = await catalog().getUsers({ userIds: [4, 7, 6, 5, 3, 2, 1] });
    expect(users).toMatchObject([
      { id: 3, name: 'émile', mobile: '3' },
      { id: 6, name: 'Émile', mobile: '6' },
      { id: 5, name: 'Farid', mobile: '5' },
      { id: 1, name: 'Zara', mobile: '1' },
      { id: 7, name: 'Zara', mobile: '7' },
      { id: 2, name: 'Unknown', mobile: '2' },
      { id: 4, name: 'Unknown', mobile: '4' },
    ]);
  });

  it('An id that no user has is left out', async () => {
    expect(await idsOf([5, 8, 0, -1, 2147483647, -2147483648])).toEqual([5]);
    expect(await idsOf([8])).toEqual([]);
    expect(await idsOf([])).toEqual([]);
  });

  it('The requested ids are taken as a set, of which 1,000 can be requested at once', async () => {
    expect(await idsOf([...Array<number>(1500).fill(5), 1])).toEqual([5, 1]);
    const userIds = Array.from({ length: 1000 }, (_, index) => 1001 + index);
    expect(await idsOf(userIds)).toEqual(userIds);
    await expectInvalidField(catalog().getUsers({ userIds: [...userIds, 1] }), 'user_ids');
  });
});
