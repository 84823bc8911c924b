import type { TestDatabase } from './database.ts';

interface WithDatabase {
  readonly database: TestDatabase;
}

/** Makes the services' sessions read only, as those of a standby are, or takes that back. */
export async function setReadOnly({ database }: WithDatabase, isReadOnly: boolean): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  // Read write, because this session may be read only, too.
  const change = `alter database ${name} set default_transaction_read_only = ${isReadOnly}`;
  await database.sql(`begin read write; ${change}; commit`);
  // A session keeps the setting that it began with.
  await database.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like '%-service%'`);
}

/** Has each write to slots fail as on a full disk, until the trigger `full_disk` is dropped. */
export async function fillDisk({ database }: WithDatabase): Promise<void> {
  await database.sql(`create function fill_disk() returns trigger language plpgsql as
    $$ begin raise 'could not extend file' using errcode = 'disk_full'; end $$`);
  await database.sql('create trigger full_disk before insert or update on slots execute function fill_disk()');
}
