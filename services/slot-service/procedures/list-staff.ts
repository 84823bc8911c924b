import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { CatalogParts } from '../parts.ts';

// More staff users are an error, because a truncated list would look complete.
const maxStaff = 10_000;

/**
 * Design 11, ListStaff: lists all staff users, ordered by name, then id. Throws RESOURCE_EXHAUSTED for more than
 * 10,000.
 */
export function listStaff({ database }: CatalogParts): Handler<typeof CatalogService.method.listStaff> {
  return async (_request, call) => {
    const staff = await database.for(call).query(selectStaff());
    if (staff.length > maxStaff) throw fail(commonErrors.answerTooLarge);
    return { staff };
  };
}

interface StaffRow {
  id: number;
  name: string;
  isDisabled: boolean;
}

// Reads at most one staff user more than an answer may have.
const selectStaff = statement<StaffRow>(
  'listStaff',
  `select id, name, disabled_at is not null as "isDisabled"
   from (select * from staff_users limit ${maxStaff} + 1) as staff
   order by name collate "und-x-icu", id`,
);
