import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectError, slotContract } from '../../support/contract.ts';

slotContract('ListStaff', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));

  it('All staff users are listed by name as people sort, then id, with those that are disabled', async () => {
    await api.sql(`insert into staff_users (id, name, disabled_at) values
      (3, 'élan', null), (4, 'Zubin', now()), (5, 'Ravi Iyer', null), (6, 'Farid', null)`);
    const { staff } = await catalog().listStaff({});
    expect(staff).toMatchObject([
      { id: 1, name: 'Asha Menon', isDisabled: false },
      { id: 3, name: 'élan', isDisabled: false },
      { id: 6, name: 'Farid', isDisabled: false },
      { id: 2, name: 'Ravi Iyer', isDisabled: false },
      { id: 5, name: 'Ravi Iyer', isDisabled: false },
      { id: 4, name: 'Zubin', isDisabled: true },
    ]);
    await api.sql('delete from staff_users where id > 2');
  });

  it('10,000 staff users are listed, and more are refused', async () => {
    await api.sql(`insert into staff_users (id, name) select n, 'Staff' from generate_series(3, 10000) n`);
    expect((await catalog().listStaff({})).staff).toHaveLength(10_000);
    await api.sql(`insert into staff_users (id, name) values (10001, 'Staff')`);
    await expectError(catalog().listStaff({}), 'ANSWER_TOO_LARGE');
  });
});
