import { isShown, type shownBy, toShown } from '../audit/shown-entry.ts';
import type { ServiceConfig } from '../config/config.ts';
import { onlyRow, type Queryable, statement } from '../db/statement.ts';

/** What the receiver of a service's webhooks has not taken yet. Both are undefined where none are sent. */
interface Unsent {
  readonly unsentEntries?: number;
  readonly oldestUnsentAt?: number | undefined;
}

/** How many entries, of all services, are looked at. */
const maxEntries = 10_000;

/** Returns a function that reads what is unsent of a service (design 17). */
export function unsentReader({ database, events }: ServiceConfig, service: keyof typeof shownBy) {
  const params = { ...toShown(service), service: database.applicationName };
  return async (db: Queryable): Promise<Unsent> => {
    if (events === undefined) return {};
    const { unsentEntries, oldest } = onlyRow(await db.query(countUnsent(params)));
    return { unsentEntries, oldestUnsentAt: oldest?.getTime() };
  };
}

const countUnsent = statement<
  { unsentEntries: number; oldest: Date | null },
  ReturnType<typeof toShown> & { service: string }
>(
  'countUnsent',
  `select count(*)::integer as "unsentEntries", min(at) as oldest
   from (
     select *
     from audit_entries where id > (select sent_id from webhook_deliveries where service = $service)
     order by id limit ${maxEntries}
   ) as entries
   where ${isShown}`,
);
