import { fail } from '../../../shared/errors/errors.ts';
import type { ImportedUser, ImportService } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import { type Importing, importAll, importStatement } from '../imports/import.ts';
import { toMobile } from '../imports/mobile.ts';
import type { ImportParts } from '../parts.ts';

/** Design 14, ImportUsers. Throws as `importAll` does: ALREADY_EXISTS for a mobile of another user. */
export function importUsers(parts: ImportParts): Handler<typeof ImportService.method.importUsers> {
  return ({ users }, call) => importAll(userImport, parts, users, call);
}

const fields = (user: string) =>
  `'externalId', ${user}.external_id, 'name', ${user}.name, 'email', ${user}.email, 'mobile', ${user}.mobile`;

// A user without an external id who has the mobile becomes the one of a new external id. One that has the mobile
// otherwise keeps it, also one that the call gives another number; so does the first of several rows.
export const userImport: Importing<ImportedUser> = {
  list: 'users',
  toGiven: ({ externalId, name, email, mobile }, callingCode, prefix) => ({
    external_id: externalId,
    name: name || null,
    email: email || null,
    mobile: toMobile(mobile, callingCode, prefix) || null,
  }),
  write: importStatement('importUsers', {
    table: 'users',
    type: 'user',
    given: 'external_id text, name text, email text, mobile text',
    columns: ['external_id', 'name', 'email', 'mobile'],
    wanted: `
       select given.*, known.id, is_held or given.mobile is not null
         and row_number() over (partition by given.mobile, is_held order by place) > 1 as is_refused
       from given
         left join users as own on own.external_id = given.external_id
         left join users as holder on holder.mobile = given.mobile,
         lateral (
           select case when own.id is not null then own.id when holder.external_id is null then holder.id end as id
         ) as known,
         lateral (select holder.id is not null and holder.id is distinct from known.id as is_held) as held`,
    fields,
  }),
  refusal: (prefix) =>
    fail(slotErrors.mobileTaken, {
      violations: [{ field: `${prefix}mobile`, description: slotErrors.mobileTaken.message }],
    }),
};
