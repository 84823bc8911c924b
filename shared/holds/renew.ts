import { auditEntry } from '../audit/entry.ts';
import { isAsSeen } from '../db/races.ts';
import { ifNewKey } from '../rpc/idempotency/key.ts';
import { changeOfHold, confirmedColumn, creationOfHold, type HoldKind } from './hold.ts';

/** How long a hold lasts if a request does not say so. */
export const defaultHoldSeconds = 900;

/** What a request for a hold writes of its kind: SQL of columns and of their values. */
interface Wanted {
  /** Those that a held record takes anew, such as an amount. */
  readonly changing: Readonly<Record<string, string>>;
  /** Those that identify a new record, besides its order key. */
  readonly fixed: Readonly<Record<string, string>>;
  /** SQL of whether the record is confirmed whatever the hold is; by default none is. */
  readonly isConfirmed?: string;
}

/**
 * Returns SQL of common table expressions that hold what an order asks for (design 13, 15): the order's live record
 * `seen` takes the new values, or a new record is made. They read the parameters `orderKey` and `holdSeconds`. `written`
 * is the record that was written, and `kept` that which the order has afterwards. `found` must have `mayWrite`.
 */
export function holdAnew(kind: HoldKind, { changing, fixed, isConfirmed = 'false' }: Wanted): string {
  const { table } = kind;
  const columns = [...Object.keys(changing), 'state', 'held_until', confirmedColumn(kind)].join(', ');
  return `
   wanted (${columns}) as materialized (
     select ${Object.values(changing).join(', ')},
       case when ${isConfirmed} or $holdSeconds::integer = 0 then '${kind.confirmed}' else 'HELD' end,
       case when not ${isConfirmed} and $holdSeconds > 0 then statement_timestamp() + $holdSeconds * interval '1 second' end,
       case when ${isConfirmed} then seen.${confirmedColumn(kind)} when $holdSeconds = 0 then statement_timestamp() end
     from found left join seen on true where "mayWrite"
   ),
   renewed as (
     update ${table} set (${columns}) = (select ${columns} from wanted)
     from seen where exists (select from wanted) and ${isAsSeen(table)}
     returning ${table}.*, ${table}.xmin
   ),
   created as (
     insert into ${table} (${Object.keys(fixed).join(', ')}, order_key, created_at, ${columns})
     select ${Object.values(fixed).join(', ')}, $orderKey, statement_timestamp(), ${columns}
     from wanted where ${ifNewKey('not exists (select from seen)')}
     returning ${table}.*, ${table}.xmin
   ),
   ${auditEntry(kind.resourceType, `${creationOfHold(kind)} union all ${changeOfHold(kind, 'renewed')}`)},
   written as (select * from renewed union all select * from created),
   kept as (
     select * from written
     union all select seen.* from seen, found where not "mayWrite"
   )`;
}
