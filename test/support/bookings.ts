import { expect } from 'vitest';
import type { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { Api } from './contract.ts';
import { newName } from './mutations.ts';
import { entriesOf } from './redemptions.ts';
import { requestIdOf } from './slot-writes.ts';

export type BookingApi = Api<typeof SlotBookingService>;

/** The columns of a slot that tests give; the others have the values of one that takes orders and has ten units. */
export interface SlotColumns {
  readonly capacity?: number | null;
  readonly delivery_time?: string;
  readonly freeze_time?: string;
  readonly is_active?: boolean;
  readonly is_capacity_full?: boolean;
}

/** Adds a slot. Resolves with its id. */
export async function addSlot(sql: BookingApi['sql'], given: SlotColumns = {}): Promise<number> {
  const columns = { delivery_time: '2040-01-02Z', freeze_time: '2040-01-01Z', capacity: 10, ...given };
  const names = Object.keys(columns);
  const [row] = await sql<{ id: number }>(
    `insert into slots (${names.join()}) values (${names.map((_name, at) => `$${at + 1}`).join()}) returning id`,
    Object.values(columns),
  );
  if (row === undefined) throw new Error('no slot was added');
  return row.id;
}

/** Ways in which a slot takes no orders, with the refusal and its message. */
export const closedSlots: readonly (readonly [SlotColumns, 'INACTIVE' | 'CLOSED' | 'MARKED_FULL', string])[] = [
  [{ is_active: false, freeze_time: '2020-01-01Z' }, 'INACTIVE', 'Slot is not active'],
  [{ freeze_time: '2020-01-01Z', is_capacity_full: true }, 'CLOSED', 'Slot takes no more orders'],
  [{ delivery_time: '2020-01-01Z' }, 'CLOSED', 'Slot takes no more orders'],
  [{ is_capacity_full: true }, 'MARKED_FULL', 'Slot is full'],
  [{ is_capacity_full: true, capacity: null }, 'MARKED_FULL', 'Slot is full'],
];

/** Sets columns of a slot. */
export function change(sql: BookingApi['sql'], slotId: number, columns: SlotColumns) {
  const sets = Object.keys(columns).map((name, at) => `${name} = $${at + 2}`);
  return sql(`update slots set ${sets.join()} where id = $1`, [slotId, ...Object.values(columns)]);
}

/** An order that no other test has. */
export const newOrderKey = () => newName('order');

/** Lets the hold of a booking run out. */
export const letBookingRunOut = (sql: BookingApi['sql'], id: number | undefined) =>
  sql(`update slot_bookings set held_until = statement_timestamp() - interval '1 second' where id = $1`, [id]);

export const bookingEntriesOf = (api: BookingApi, id: number | undefined) => entriesOf(api, 'booking', id);

/** Makes a call. Resolves with how many refresh requests it inserted; its answer has their id if it inserted any. */
export async function requestsOf(api: BookingApi, call: Parameters<typeof requestIdOf>[0]): Promise<number> {
  const count = async () => (await api.sql('select from seen_requests')).length;
  const before = await count();
  const header = await requestIdOf(call);
  const requests = (await count()) - before;
  expect(header !== undefined).toBe(requests > 0);
  return requests;
}

/** Keeps a list of refresh requests for `requestsOf`: a refresh deletes them from the table. */
export const keepRequests = (sql: BookingApi['sql']) =>
  sql(`create table if not exists seen_requests (slot_id integer);
    create or replace function see() returns trigger language plpgsql security definer as
      $$ begin insert into seen_requests values (new.slot_id); return null; end $$;
    create or replace trigger sees after insert on store_refresh_requests for each row execute function see()`);

/** The units of a slot's live bookings, counted one by one, and as the trigger has counted them. */
export async function unitsOf(sql: BookingApi['sql'], slotId: number) {
  const [row] = await sql<{ live: number; counted: number }>(
    `select coalesce((select sum(units) from slot_bookings where slot_id = $1 and (
       state = 'BOOKED' or state = 'HELD' and held_until > statement_timestamp())), 0)::integer as live,
     coalesce((select held + booked from slot_usage where slot_id = $1), 0)::integer as counted`,
    [slotId],
  );
  return row;
}
