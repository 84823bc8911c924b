import { withClient } from './client.ts';
import { searchesOf, withoutIndexes } from './data-indexes.ts';

/** What the filters of the loaded entries find: common and rare values. */
export const auditFilters = {
  staff: { common: 1, rare: 903 },
  subject: { common: 'staff-1', rare: 'staff-903' },
  procedure: { slot: 'slot.v1.SlotService/UpdateSlotProducts', rare: 'slot.v1.SlotService/DeleteSlot' },
  resourceId: 4_711,
};

/**
 * Adds audit entries to a migrated database, half of them of slots: of three years, by 1,000 staff users, of whom the first
 * makes half of all changes. One entry in 10,000 is of DeleteSlot.
 */
export async function loadAuditData(databaseUrl: string, entries: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await withoutIndexes(client, searchesOf('audit_entries'), () =>
      client.query(`
      insert into audit_entries (at, procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
      select timestamptz '2026-01-01Z' - interval '3 years' + n * (interval '3 years' / ${entries}),
        case when n % 2 = 1 then 'coupon.v1.CouponService/Update' when n % 10000 = 0 then 'slot.v1.SlotService/DeleteSlot'
          when n % 4 = 0 then 'slot.v1.SlotService/UpdateSlotProducts' else 'slot.v1.SlotService/UpdateSlot' end,
        'staff-' || staff, staff, 'a3f09c21b7d4e856-' || n,
        case when n % 2 = 0 then 'slot' when n % 1001 = 0 then 'user' when n % 101 = 0 then 'reserved_coupon' else 'coupon' end,
        1 + n * 7919::bigint % 100000,
        '{"productIds" : [11,12,13,14,15,16,17,18,19,20]}', '{"productIds" : [11,12,13,14,15,16,17,18,19,21]}'
      from generate_series(1, ${entries}) as n,
        lateral (select case when n % 4 < 2 then 1 else 1 + (n * 31 % 1000)::integer end as staff) as actor`),
    );
    await client.query('vacuum analyze audit_entries');
  });
}
