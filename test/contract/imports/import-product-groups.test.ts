import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { ImportOutcome } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { expectInvalidField, importContract } from '../../support/contract.ts';

const { CREATED, CHANGED, UNCHANGED } = ImportOutcome;

importContract('ImportProductGroups', (api) => {
  it('A group is created, left as it is, and changed', async () => {
    for (const [name, outcome] of [
      ['Dairy', CREATED],
      ['Dairy', UNCHANGED],
      ['Milk', CHANGED],
    ] as const) {
      const { results } = await api.staff.importProductGroups({ groups: [{ externalId: 'g-1', name }] });
      expect(results).toMatchObject([{ externalId: 'g-1', outcome }]);
    }
    const { groups } = await createClient(CatalogService, api.transportAs('staff')).listProductGroups({});
    expect(groups.filter(({ name }) => name === 'Milk')).toHaveLength(1);
  });

  it('An external id that is given twice is refused', async () => {
    const groups = [{ externalId: 'g-2' }, { externalId: 'g-2' }];
    await expectInvalidField(api.staff.importProductGroups({ groups }), 'groups[1].external_id');
  });
});
