import pg from 'pg';

/** Has a connection to a database for some work. */
export async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs texts of one or several statements, one after the other. */
export const runSql = (url: string, ...texts: readonly string[]) =>
  withClient(url, async (client) => {
    for (const text of texts) await client.query(text);
  });
