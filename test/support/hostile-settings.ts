import pg from 'pg';
import { asServiceRole } from './postgres.ts';
import { queryOnce } from './postgres-server.ts';

/** Values of all settings that could change what statements do or answer, or end them; not `session_replication_role`. */
export const hostileSettings: Readonly<Record<string, string>> = {
  ...{ default_transaction_isolation: 'repeatable read', default_transaction_deferrable: 'on' },
  ...{ lock_timeout: '20ms', statement_timeout: '20ms', transaction_timeout: '250ms' },
  ...{ idle_in_transaction_session_timeout: '20ms', idle_session_timeout: '20ms' },
  ...{
    DateStyle: 'German',
    IntervalStyle: 'sql_standard',
    TimeZone: 'America/St_Johns',
    timezone_abbreviations: 'India',
  },
  ...{ synchronous_commit: 'off', row_security: 'off', search_path: 'elsewhere', client_encoding: 'LATIN1' },
  ...{ array_nulls: 'off', standard_conforming_strings: 'off', backslash_quote: 'on', escape_string_warning: 'on' },
  ...{ extra_float_digits: '-15', bytea_output: 'escape', xmloption: 'document', xmlbinary: 'hex' },
  ...{ plan_cache_mode: 'force_custom_plan', gin_fuzzy_search_limit: '1', exit_on_error: 'on' },
  ...{ transform_null_equals: 'on', quote_all_identifiers: 'on', check_function_bodies: 'on' },
  ...{ default_text_search_config: 'german', client_min_messages: 'debug1', constraint_exclusion: 'on' },
  ...{
    lc_messages: 'C',
    lc_monetary: 'C',
    lc_numeric: 'C',
    lc_time: 'C',
    geqo_threshold: '2',
    from_collapse_limit: '1',
  },
  ...{ enable_indexscan: 'off', enable_hashjoin: 'off', enable_sort: 'off' },
  ...{ restrict_nonsystem_relation_kind: 'foreign-table' },
};

/** Sets those that the server knows for a database, and for the services' role in it. Its superuser keeps its own. */
export async function makeHostile(url: string, settings = hostileSettings): Promise<void> {
  const rows = await queryOnce<{ name: string; setting: string }>(url, 'select name, setting from pg_settings');
  const known = new Map(rows.map(({ name, setting }) => [name, setting]));
  const database = new URL(url).pathname.slice(1);
  const roles = [new URL(asServiceRole(url)).username, new URL(url).username];
  const statements = Object.entries(settings).flatMap(([name, value]) => {
    const kept = known.get(name);
    if (kept === undefined) return [];
    const [hostile, own] = [pg.escapeLiteral(value), name === 'search_path' ? 'public' : pg.escapeLiteral(kept)];
    return [
      `alter database ${database} set ${name} = ${hostile}`,
      `alter role ${roles[0]} in database ${database} set ${name} = ${hostile}`,
      `alter role ${roles[1]} in database ${database} set ${name} = ${own}`,
    ];
  });
  await queryOnce(url, statements.join(';'));
}
