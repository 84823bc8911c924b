import { idOf, type TestDatabase } from './database.ts';

/** The columns of a slot that tests give; the others have their defaults. */
export interface SlotColumns {
  readonly id?: number;
  readonly delivery_time?: string;
  readonly freeze_time?: string;
  readonly is_active?: boolean;
  readonly is_capacity_full?: boolean;
  readonly group_ids?: readonly number[];
  /** JSON. */
  readonly delivery_sequence?: string;
}

/** Adds a slot. Resolves with its id. */
export function addSlotOf(
  sql: TestDatabase['sql'],
  given: SlotColumns = {},
  productIds: readonly number[] = [],
): Promise<number> {
  const columns = { delivery_time: '2029-01-02Z', freeze_time: '2029-01-01Z', ...given };
  const names = Object.keys(columns);
  return idOf(
    sql,
    `with slot as (
       insert into slots (${names.join()}) values (${names.map((_name, at) => `$${at + 2}`).join()}) returning id
     ),
     products as (insert into product_slots select id, unnest($1::integer[]) from slot)
     select id from slot`,
    [productIds, ...Object.values(columns)],
  );
}

/** Delivery sequences, as JSON, that are no maps of user id to integers. */
export const noMaps =
  '7 "text" [1,2] [] {"1":[1.5]} {"1":["1"]} {"1":[null]} {"1":[[1]]} {"1":1} {"1":[1],"2":null} {"1":{"2":[3]}}'.split(
    ' ',
  );
