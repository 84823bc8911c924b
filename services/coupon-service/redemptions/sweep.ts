import { statement } from '../../../shared/db/statement.ts';
import { isRunOut } from './redemption.ts';

/** Marks holds that have run out, which count as such already (design 13). Returns the number of marked redemptions. */
export const sweepHolds = statement<{ swept: number }, { most: number }>(
  'sweepHolds',
  `with oldest as (
     select id from redemptions where ${isRunOut('redemptions')}
     order by held_until limit $most::integer for no key update skip locked
   ),
   swept as (update redemptions set state = 'EXPIRED' from oldest where redemptions.id = oldest.id returning 1)
   select count(*)::integer as swept from swept`,
);
