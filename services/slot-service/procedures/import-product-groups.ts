import type { ImportedProductGroup, ImportService } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type Importing, importAll, importStatement } from '../imports/import.ts';
import type { ImportParts } from '../parts.ts';

/** Design 14, ImportProductGroups. Throws as `importAll` does. */
export function importProductGroups(parts: ImportParts): Handler<typeof ImportService.method.importProductGroups> {
  return ({ groups }, call) => importAll(productGroupImport, parts, groups, call);
}

export const productGroupImport: Importing<ImportedProductGroup> = {
  list: 'groups',
  toGiven: ({ externalId, name }) => ({ external_id: externalId, name }),
  write: importStatement('importProductGroups', {
    table: 'product_groups',
    type: 'product_group',
    given: 'external_id text, name text',
    columns: ['external_id', 'name'],
    wanted: `select given.*, product_groups.id, false as is_refused from given left join product_groups using (external_id)`,
    fields: (group) => `'externalId', ${group}.external_id, 'name', ${group}.name`,
  }),
};
