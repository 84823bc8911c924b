import { Code } from '@connectrpc/connect';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadStores } from '../../services/slot-service/stores/content.ts';
import { refreshStores } from '../../services/slot-service/stores/refresh.ts';
import { StoreReplica } from '../../services/slot-service/stores/replica.ts';
import type { Database } from '../../shared/db/database.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool, rowsReadBy } from '../support/rows-read.ts';

describe('The stores of 5,000 slots', () => {
  const signal = AbortSignal.timeout(120_000);
  let own: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    own = await createDatabase();
    database = openPool(own.url);
    await own.sql(`insert into slots (delivery_time, freeze_time)
      select now() + interval '2 d', now() + interval '1 d' from generate_series(1, 5000)`);
    await own.sql(
      'insert into product_slots (slot_id, product_id) select id, product from slots, generate_series(1, 4) product',
    );
    await refreshStores(database, signal);
  });
  afterAll(async () => {
    await database.close();
    await own.close();
  });

  const writeSlot = (id: number) =>
    own.sql(
      `with written as (update slots set freeze_time = freeze_time + interval '1 h' where id = $1)
       insert into store_refresh_requests (slot_id) values ($1)`,
      [id],
    );

  it('A refresh after a write of one slot reads the products of that slot only', async () => {
    await writeSlot(7);
    expect(await rowsReadBy(own, 'product_slots', (other) => refreshStores(other, signal), 'entries')).toBe(4);
  });

  it('A replica that has the version before loads only the slots that were written', async () => {
    const before = await loadStores(database, undefined, signal);
    await writeSlot(8);
    await refreshStores(database, signal);
    const readRows = () => rowsReadBy(own, 'stored_slots', (other) => loadStores(other, before, signal));
    // Where rows are not yet visible to all, PostgreSQL reads some more to plan.
    await expect.poll(readRows).toBe(1);
    const after = await loadStores(database, before, signal);
    const shared = new Set(before?.slots);
    expect(after?.slots.filter((slot) => !shared.has(slot)).map(({ id }) => id)).toEqual([8]);
  });

  it('A refresh that finds a slot as it is stored writes no row of it', async () => {
    await own.sql('insert into store_refresh_requests (slot_id) values (9)');
    const refreshed = await refreshStores(database, signal);
    const rows = await own.sql('select from stored_slots where version = $1', [refreshed?.version]);
    expect(rows).toHaveLength(0);
  });

  it('A request that names no slot stores all slots, and forgets those that are gone', async () => {
    await own.sql(`with moved as (update slots set is_capacity_full = true where id = 10),
      gone as (delete from slots where id = 11) insert into store_refresh_requests default values`);
    await refreshStores(database, signal);
    const content = await loadStores(database, undefined, signal);
    const ids = content?.slots.map(({ id }) => id);
    expect(ids).toHaveLength(4_998);
    expect(ids).not.toContain(10);
    expect(ids).not.toContain(11);
  });

  it('A slot that was deleted by SQL is forgotten by the refresh that its request asks for', async () => {
    await own.sql(
      'with gone as (delete from slots where id = 13) insert into store_refresh_requests (slot_id) values (13)',
    );
    await refreshStores(database, signal);
    const content = await loadStores(database, undefined, signal);
    expect(content?.slots.map(({ id }) => id)).not.toContain(13);
  });

  it('A read with the id of a write before a failover is refused, though an earlier version has covered it', async () => {
    const replica = await StoreReplica.open(database, new AbortController().signal, pino({ level: 'silent' }));
    const [write] = await own.sql<{
      id: string;
    }>(`with asked as (insert into store_refresh_requests (slot_id) values (14))
      select store_request_id()::text as id`);
    await refreshStores(database, signal);
    await own.sql(`create or replace function wal_timeline() returns integer language sql stable return 2`);
    await writeSlot(15);
    await refreshStores(database, signal);
    replica.load();
    const covered = replica.untilCovers(write?.id ?? '', { signal });
    await expect(covered).rejects.toMatchObject({ code: Code.Aborted });
  });

  it('A replica whose version the database does not know loads all open slots', async () => {
    const before = await loadStores(database, undefined, signal);
    if (before === undefined) throw new Error('there is no version');
    // As a replica has it whose database was set back to before this version.
    const lost = { ...before, id: crypto.randomUUID(), version: before.version + 5, slots: before.slots.slice(1) };
    const after = await loadStores(database, lost, signal);
    expect(after?.version).toBe(before.version);
    expect(after?.slots).toEqual(before.slots);
  });

  it('The database remembers 1,000 versions', async () => {
    await own.sql(`insert into store_versions (version, refreshed_at, snapshot)
      select version, now(), pg_current_snapshot() from generate_series(5000, 6199) version`);
    await writeSlot(12);
    await refreshStores(database, signal);
    const [row] = await own.sql<{ n: number }>('select count(*)::integer as n from store_versions');
    expect(row?.n).toBe(1_000);
  });
});
