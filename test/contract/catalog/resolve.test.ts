import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectError, expectInvalidField, slotContract } from '../../support/contract.ts';

slotContract('Resolve', (api) => {
  const catalog = (caller: 'guest' | 'nobody' = 'guest') => createClient(CatalogService, api.transportAs(caller));

  beforeAll(() =>
    api.sql(`update users set external_id = 'x-' || id; update products set external_id = 'x-' || id;
      update product_groups set external_id = 'x-' || id;
      insert into orders (id, external_id, total_amount) values (7, 'x-7', 1), (8, '__proto__', 1)`),
  );

  it('External ids of each kind are mapped to the ids of its records, without those that are not known', async () => {
    const asked = ['x-1', 'x-3', 'x-7', 'x-1', 'none', '', '__proto__', 'constructor'];
    const found = await catalog().resolve({
      ...{ userExternalIds: asked, productExternalIds: asked.slice(1) },
      ...{ groupExternalIds: ['x-2'], orderExternalIds: asked },
    });
    expect(found.users).toEqual({ 'x-1': 1, 'x-3': 3 });
    expect(found.products).toEqual({ 'x-1': 1, 'x-3': 3, 'x-7': 7 });
    expect(found.groups).toEqual({ 'x-2': 2 });
    expect(found.orders['x-7']).toBe(7);
  });

  it('An empty request is answered with empty maps', async () => {
    expect(await catalog().resolve({})).toMatchObject({ users: {}, products: {}, groups: {}, orders: {} });
  });

  it('Any authenticated caller may ask, and nobody else', async () => {
    await expectError(catalog('nobody').resolve({}), 'AUTHENTICATION_REQUIRED');
  });

  it('1,000 external ids are taken in all, and no more', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_none, n) => `x-${n}`);
    await catalog().resolve({ userExternalIds: ids(500), orderExternalIds: ids(500) });
    await expectInvalidField(
      catalog().resolve({ userExternalIds: ids(500), orderExternalIds: ids(501) }),
      'external_ids',
    );
  });
});
