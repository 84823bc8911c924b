import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { ImportOutcome } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { expectInvalidField, importContract } from '../../support/contract.ts';

const { CREATED, CHANGED, UNCHANGED } = ImportOutcome;
const milk = { externalId: 'p-1', name: 'Oat milk', images: ['https://images.example/1.jpg', ''], isRetired: false };

importContract('ImportProducts', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));
  const outcomeOf = async (row: Partial<typeof milk>) =>
    (await api.staff.importProducts({ products: [row] })).results[0]?.outcome;

  it('A product is created, left as it is, and changed, each with its entry', async () => {
    expect(await outcomeOf(milk)).toBe(CREATED);
    expect(await outcomeOf(milk)).toBe(UNCHANGED);
    expect(await outcomeOf({ ...milk, images: [], isRetired: true })).toBe(CHANGED);
    const audit = createClient(AuditService, api.transportAs('staff'));
    const { entries } = await audit.listEntries({ resourceType: 'product' });
    expect(entries.map(({ before, after }) => ({ before, after }))).toEqual([
      { before: { images: milk.images, isRetired: false }, after: { images: [], isRetired: true } },
      { before: undefined, after: milk },
    ]);
  });

  it('A retired product is left out of SearchProducts unless it is asked for, and stays where it stands', async () => {
    const { results } = await api.staff.importProducts({ products: [{ ...milk, externalId: 'p-2', isRetired: true }] });
    const id = results[0]?.id ?? 0;
    for (const search of [undefined, 'oat mi', String(id)]) {
      const idsOf = async (includeRetired: boolean) =>
        (await catalog().searchProducts({ search, includeRetired, limit: 50 })).products.map((product) => product.id);
      expect(await idsOf(false)).not.toContain(id);
      expect(await idsOf(true)).toContain(id);
    }
    expect((await catalog().getProducts({ productIds: [id] })).products).toHaveLength(1);
  });

  it.each([
    [{ externalId: 'p 1' }, 'external_id'],
    [{ ...milk, name: 'x'.repeat(1_201) }, 'name'],
    [{ ...milk, images: ['x', '{https://images.example/1.jpg,x}'] }, 'images[1]'],
    [{ ...milk, images: new Array(101).fill('x') }, 'images'],
    [{ ...milk, images: ['x', 'x'.repeat(2_001)] }, 'images[1]'],
  ])('A row that can’t be taken names its field: %#', async (row, field) => {
    await expectInvalidField(api.staff.importProducts({ products: [row] }), `products[0].${field}`);
  });
});
