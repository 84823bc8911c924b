import { statement } from '../../../shared/db/statement.ts';
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

// A user without an external id who has the number of a new one becomes this one. Of several rows with one number, only
// one may have it: that of the user who has it already, or else the first. A user who gets another number leaves the old
// one to another row, unless that user's row is refused, too.
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
       with recursive known as materialized (
         select given.*, ids.id, holder.id as holder_id, is_held,
           given.mobile is not null and row_number() over (partition by given.mobile order by is_held, place) > 1 as is_repeated
         from given
           left join users as own on own.external_id = given.external_id
           left join users as holder on holder.mobile = given.mobile,
           lateral (
             select case when own.id is not null then own.id when holder.external_id is null then holder.id end as id
           ) as ids,
           lateral (select holder.id is not null and holder.id is distinct from ids.id as is_held) as held
       ),
       refused (external_id, id) as (
         select external_id, id from known
         where is_repeated or is_held and holder_id not in (select id from known where id is not null)
         union
         select known.external_id, known.id from refused join known on is_held and holder_id = refused.id
       )
       select known.*, is_held as is_passed, external_id in (select external_id from refused) as is_refused from known`,
    passing: 'mobile',
    fields,
  }),
  pass: statement(
    'passMobiles',
    `update users set mobile = given.mobile from json_to_recordset($rows::json) as given (external_id text, mobile text)
     where users.external_id = given.external_id and users.mobile is null and given.mobile is not null`,
  ),
  refusal: (prefix) =>
    fail(slotErrors.mobileTaken, {
      violations: [{ field: `${prefix}mobile`, description: slotErrors.mobileTaken.message }],
    }),
};
