import { runSql, withClient } from './client.ts';
import { loadAuditData } from './data-audit.ts';
import { searchesOf, withoutIndexes } from './data-indexes.ts';

/** How many redemptions, bookings and audit entries a load makes at scale 1. */
const full = 1_000_000;
const rowsAtOnce = 500_000;
const bookingsPerSlot = 100;
/** The id of the first slot of the past, beyond those that new slots get. */
export const firstPastSlot = 100_000_000;

/** The orders of a history have keys after this one, and those of measured calls, which are UUIDs, before it. */
export const firstOrderKey = 'history';

/**
 * Adds to the data of `loadBenchData` what two years leave behind: as many redemptions as coupons, as many bookings, a hundred in
 * each slot of the past, and as many audit entries. A twentieth of the orders was given up.
 */
export async function loadHistory(databaseUrl: string, scale: number): Promise<void> {
  const count = Math.round(full * scale);
  await withClient(databaseUrl, async (client) => {
    const inParts = async (sql: string) => {
      for (let first = 1; first <= count; first += rowsAtOnce)
        await client.query(sql, [first, Math.min(count, first + rowsAtOnce - 1)]);
    };
    const past = `now() - interval '2 years' * (1 - n::float8 / ${count})`;
    await client.query(
      `insert into slots (id, delivery_time, freeze_time, is_active, capacity)
       select ${firstPastSlot} + n, ${past.replace(`${count}`, `${count / bookingsPerSlot}`)},
         ${past.replace(`${count}`, `${count / bookingsPerSlot}`)} - interval '4 hours', false, ${2 * bookingsPerSlot}
       from generate_series(0, ${count / bookingsPerSlot}) n`,
    );
    const order = `'${firstOrderKey}-' || n`;
    const state = (done: string) => `case when n % 20 = 0 then 'RELEASED' else '${done}' end`;
    const ended = (at: string) => `case when n % 20 ${at} 0 then ${past} end`;
    await withoutIndexes(client, searchesOf('redemptions', 'slot_bookings'), async () => {
      await inParts(
        `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at, released_at)
         select 1 + n * 7919::bigint % ${count}, 1 + n * 104729::bigint % ${count}, ${order}, 250, 25, ${state('USED')}, ${past},
           ${ended('<>')}, ${ended('=')}
         from generate_series($1::integer, $2) n`,
      );
      await inParts(
        `insert into slot_bookings (slot_id, order_key, user_id, units, state, created_at, booked_at, released_at)
         select ${firstPastSlot} + n / ${bookingsPerSlot}, ${order}, 1 + n * 104729::bigint % ${count}, 1, ${state('BOOKED')}, ${past},
           ${ended('<>')}, ${ended('=')}
         from generate_series($1::integer, $2) n`,
      );
    });
    // As the sweep of coupon-service does.
    await client.query(
      `insert into folded_uses
       select date_bin('15 minutes', used_at, '2000-01-01Z') as quarter, sum(uses), sum(discount_used) from unfolded_uses group by quarter`,
    );
    await client.query('truncate unfolded_uses');
  });
  await loadAuditData(databaseUrl, count);
  await runSql(databaseUrl, 'vacuum analyze');
}
