/**
 * Settings of a session that change what a statement does or answers. The services' own hold, whatever the database or
 * the role sets: it may be the database of a business. PostgreSQL 14 knows all of these, and of `further`.
 */
const decisive = {
  // A statement that has waited for a lock counts what was committed meanwhile.
  default_transaction_isolation: 'read committed',
  // The driver reads no other form of times.
  DateStyle: 'ISO',
  // With fewer digits, the clock would be minutes off.
  extra_float_digits: '1',
  // `{NULL}` holds null, and not the text.
  array_nulls: 'on',
  // A backslash stands for itself.
  standard_conforming_strings: 'on',
  // Policies of the tables hide rows, instead of failing.
  row_security: 'on',
  // An index finds all rows.
  gin_fuzzy_search_limit: '0',
  // A lost race ends a statement, and not its session.
  exit_on_error: 'off',
};

/** Without these settings, calls are right, but may fail or take longer. */
const further = {
  // A plan for the values of each call would take longer to make than most statements to run.
  plan_cache_mode: 'force_generic_plan',
  // The pool has its own bounds. Jobs, LISTEN and migrations have none.
  lock_timeout: '0',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  // No statement depends on these. They are set so that none comes to.
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
};

/** The longest that a statement of a call runs, in milliseconds: a silent connection is noticed within 10 s. */
export const statementTimeoutMs = 8_000;

/** What the services' role has, for sessions behind a pooler, which refuses startup options. */
export const roleSettings: Readonly<Record<string, string>> = {
  ...decisive,
  ...further,
  statement_timeout: `${statementTimeoutMs}`,
  idle_in_transaction_session_timeout: `${statementTimeoutMs}`,
  // From PostgreSQL 17 on.
  transaction_timeout: '0',
};

/** What a session has to have. Only a superuser may set the last one, and `synchronous_commit` may be any but `off`. */
export const requiredSettings: Readonly<Record<string, string>> = {
  ...decisive,
  synchronous_commit: 'on',
  // Otherwise no trigger counts, and no foreign key is checked.
  session_replication_role: 'origin',
};

/**
 * SQL of the settings that no startup option can have: a stronger `synchronous_commit` stays, and PostgreSQL knows a
 * `transaction_timeout` from 17 on.
 */
export const settleSession = `
  select set_config('transaction_timeout', '0', false) where current_setting('server_version_num')::integer >= 170000
  union all select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;

/**
 * Returns the URL of a database with startup options: the settings, with those of `other`, which win over all others,
 * and the schema of all tables.
 */
export function inSession(url: string, schema: string, other: Readonly<Record<string, string>> = {}): string {
  if (url === '') return url;
  const led = new URL(url);
  const settings = Object.entries({ ...decisive, ...further, ...other, search_path: `"${schema}"` });
  const options = settings.map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`);
  led.searchParams.set('options', [led.searchParams.get('options') ?? '', ...options].join(' ').trim());
  return led.href;
}
