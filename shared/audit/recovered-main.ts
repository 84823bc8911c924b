import { ConfigError } from '../config/variables.ts';
import { asOwner } from '../db/owner.ts';

/** More ids of a table, and versions of the stores, than are given out in the time that a recovery loses. */
const skipped = 1_000_000;

// Other systems, and tokens of staff, may still name records that were created in the lost time.
const skipIds = `
  select setval(id::regclass, least(coalesce(last_value, 0) + ${skipped}, max_value))
  from (
    select format('%I.%I', schemaname, sequencename) as id, last_value, max_value
    from pg_sequences where schemaname = current_schema()
  ) as ids
  where has_sequence_privilege(id, 'update')`;

// The next version of the stores is one that no page has seen in the lost time.
const tellStaffAndPages = `
  with versions as (update store_versions set version = version + ${skipped}),
    request as (insert into store_refresh_requests default values)
  insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after, shown_bytes)
  select 'recovered', 'operator', '', 'database', 0, after, octet_length(after::text)
  from (
    select json_build_object('missingSince', api_time(max(at))) as after from audit_entries where resource_type <> 'database'
  ) as last
  returning after ->> 'missingSince' as since, api_time(at) as until`;

try {
  const [told] = await asOwner(async (client) => {
    const { rowCount } = await client.query(skipIds);
    if (rowCount === 0) throw new ConfigError('DATABASE_URL must name the role that owns the schema');
    return (await client.query<{ since: string | null; until: string }>(tellStaffAndPages)).rows;
  });
  process.stdout.write(`changes may be missing from ${told?.since ?? 'the beginning'} to ${told?.until}\n`);
} catch (error) {
  process.stderr.write(`recovered: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
