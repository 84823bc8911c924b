import { type Given, type Importing, importStatement } from '../imports/import.ts';

export interface StaffRow extends Given {
  readonly name: string;
  /** Undefined: as it is. */
  readonly isDisabled: boolean | undefined;
}

/**
 * The import of staff users, who have no audit trail. A user who is disabled already keeps the time. A file without the
 * column enables nobody.
 */
export const staffImport: Importing<StaffRow> = {
  list: 'staff',
  toGiven: ({ externalId, name, isDisabled }) => ({ external_id: externalId, name, is_disabled: isDisabled }),
  write: importStatement('importStaff', {
    table: 'staff_users',
    given: 'external_id text, name text, is_disabled boolean',
    columns: ['external_id', 'name', 'disabled_at'],
    wanted: `
       select given.external_id, given.name, place, staff_users.id, false as is_refused,
         case given.is_disabled when true then coalesce(staff_users.disabled_at, now()) when false then null
           else staff_users.disabled_at end as disabled_at
       from given left join staff_users using (external_id)`,
    fields: (staff) => `'externalId', ${staff}.external_id, 'name', ${staff}.name`,
  }),
};
