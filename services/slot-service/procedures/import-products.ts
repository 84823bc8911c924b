import type { ImportedProduct, ImportService } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type Importing, importAll, importStatement } from '../imports/import.ts';
import type { ImportParts } from '../parts.ts';

/** Design 14, ImportProducts. Throws as `importAll` does. */
export function importProducts(parts: ImportParts): Handler<typeof ImportService.method.importProducts> {
  return ({ products }, call) => importAll(productImport, parts, products, call);
}

export const productImport: Importing<ImportedProduct> = {
  list: 'products',
  toGiven: ({ externalId, name, images, isRetired }) => ({
    external_id: externalId,
    name,
    images,
    is_retired: isRetired,
  }),
  write: importStatement('importProducts', {
    table: 'products',
    type: 'product',
    given: 'external_id text, name text, images text[], is_retired boolean',
    columns: ['external_id', 'name', 'images', 'is_retired'],
    wanted: `select given.*, products.id, false as is_refused from given left join products using (external_id)`,
    fields: (product) =>
      `'externalId', ${product}.external_id, 'name', ${product}.name, 'images', ${product}.images,
       'isRetired', ${product}.is_retired`,
  }),
};
