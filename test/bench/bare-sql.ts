import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { BareConfig, RecordedStatement, Recording } from './bare-config.ts';

// The database of the bare servers: pg's pool and nothing around it. Reads are written plainly, and writes run the
// statements of the services.

type Rows = pg.QueryResultRow[];

export const config: BareConfig = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));

// As the services do.
pg.defaults.parseInputDatesAsUTC = true;
// As large as theirs, and kept as theirs is: a connection that closes takes its processor time out of the sum.
const pool = new pg.Pool({ connectionString: config.databaseUrl, max: 14, idleTimeoutMillis: 0 });
// Without it a connection that is lost between two calls ends the process.
pool.on('error', () => undefined);

/** A read of one statement a call, prepared under its name. */
export function readOf<Row>(name: string, text: string): (values?: unknown[]) => Promise<Row[]> {
  return async (values = []) => (await pool.query<Row & pg.QueryResultRow>({ name, text, values })).rows;
}

/** All statements of a write, in their order and on one connection, with other texts. */
export function writeOf(procedure: string): (texts: readonly string[]) => Promise<Rows> {
  const recording = recordingOf(procedure);
  const statements = recording.statements.map(({ name, text, values }) => ({
    name,
    text,
    values: values.map((value) => valueIn(value, recording)),
  }));
  return async (texts) => {
    const client = await pool.connect();
    const rows: Rows = [];
    try {
      for (const { name, text, values } of statements) {
        const id: unknown = rows[0]?.id;
        const result = await client.query({ name, text, values: values.map((value) => value(texts, id)) });
        rows.push(...result.rows);
      }
      return rows;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  };
}

function recordingOf(procedure: string): Recording {
  const recording = config.recordings[procedure];
  if (recording === undefined) throw new Error(`${procedure} was not recorded`);
  return recording;
}

type Value = (texts: readonly string[], id: unknown) => unknown;

/** A value as it was, or what stands in its place in another call. */
function valueIn(value: RecordedStatement['values'][number], recording: Recording): Value {
  if (typeof value === 'string' && recording.texts.some((text) => value.includes(text))) {
    return (texts) => recording.texts.reduce((before, text, at) => before.replace(text, texts[at] ?? ''), value);
  }
  if (value === recording.id) return (_texts, id) => id;
  return () => value;
}
