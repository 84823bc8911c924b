import { bind, type Connection, type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/errors/errors.ts';
import { requiredDate } from '../../shared/rpc/dates.ts';
import { slotErrors } from './errors.ts';
import { slotProductsLock } from './products.ts';
import { type SlotRow, slotColumns } from './slots.ts';
import {
  insertSnippets,
  readSnippets,
  refuseSnippets,
  type SnippetChecks,
  type SnippetInput,
  type SnippetRow,
  type SnippetsToStore,
  snippetCheckColumns,
  snippetChecks,
  untilSnippetsSettle,
} from './snippets.ts';
import { requestForEach, storeRequestId } from './stores/requests.ts';

/** What createSlot and updateSlot are given (spec 4.1). The ids are sets. */
export interface SlotInput {
  readonly deliveryTime: string;
  readonly freezeTime: string;
  readonly isActive: boolean | undefined;
  readonly productIds: readonly number[] | undefined;
  readonly vendorSnippets: readonly SnippetInput[];
  readonly groupIds: readonly number[];
}

export interface WrittenSlot {
  readonly slot: SlotRow;
  readonly createdSnippets: SnippetRow[];
  readonly storeRequestId: string;
}

/** Throws INVALID_ARGUMENT when a time is empty or no date (spec 7). */
function readTimes(input: SlotInput): { deliveryTime: Date; freezeTime: Date } {
  const { deliveryTime, freezeTime } = input;
  if (deliveryTime === '' || freezeTime === '') {
    const missing = deliveryTime === '' ? 'delivery_time' : 'freeze_time';
    throw fail(slotErrors.timesRequired, { violations: [{ field: missing, description: 'is required' }] });
  }
  return {
    deliveryTime: requiredDate('delivery_time', deliveryTime),
    freezeTime: requiredDate('freeze_time', freezeTime),
  };
}

/** A statement that writes only when nothing is wrong gives the slot, or else what it found. */
type Outcome = SnippetChecks & ((SlotRow & { storeRequestId: string }) | { id: null });

function writtenSlot(slot: SlotRow & { storeRequestId: string }, { snippets }: SnippetsToStore): WrittenSlot {
  const createdSnippets = snippets.map((snippet) => ({ ...snippet, slotId: slot.id }));
  return { slot, createdSnippets, storeRequestId: slot.storeRequestId };
}

// An association may have been made before there was the slot: it is kept or goes as all others.
const createSlotRow = statement<Outcome>(
  'createSlot',
  `with ${snippetChecks},
   written as (
     insert into slots (delivery_time, freeze_time, is_active, group_ids)
     select $5::timestamptz, $6::timestamptz, $7::boolean, $8::integer[] from storable
     returning *
   ),
   associations as (
     insert into product_slots (slot_id, product_id)
     select written.id, product_id from written, unnest($9::integer[]) as product_id
     order by product_id
     on conflict do nothing
   ),
   strays as (
     delete from product_slots using written
     where slot_id = written.id and product_id not in (select unnest($9::integer[]))
   ),
   ${insertSnippets('written')},
   ${requestForEach('written')}
   select ${slotColumns}, ${snippetCheckColumns}, ${storeRequestId}
   from snippet_checks left join written as slots on true`,
);

/**
 * Spec 4.1, createSlot: one statement, which writes only when the snippets can be stored. Group ids
 * and product ids of the slot are not checked.
 *
 * @throws INVALID_ARGUMENT for times that are empty or no dates, and what `refuseSnippets` throws.
 */
export async function createSlot(db: Queryable, input: SlotInput): Promise<WrittenSlot> {
  const { deliveryTime, freezeTime } = readTimes(input);
  const given = readSnippets(input.vendorSnippets);
  const { isActive = true, groupIds, productIds = [] } = input;
  const values = [...given.values, deliveryTime, freezeTime, isActive, groupIds, productIds];
  const [slot] = await untilSnippetsSettle(() => db.query(createSlotRow, values));
  if (slot === undefined) throw new Error('the statement has one row');
  if (slot.id === null) return refuseSnippets(given, slot);
  return writtenSlot(slot, given);
}

// Product ids that are null leave the associations alone, by the words "is not null".
const updateSlotRow = statement<Outcome & { slotExists: boolean }>(
  'updateSlot',
  `with ${snippetChecks},
   written as (
     update slots
     set delivery_time = $6, freeze_time = $7, is_active = $8,
         group_ids = array(
           select given.id
           from unnest($9::integer[]) with ordinality as given (id, position)
           join product_groups using (id)
           order by position
         )
     where id = $5 and exists (select from storable)
     returning *
   ),
   removed as (
     delete from product_slots using written
     where slot_id = written.id and $10::integer[] is not null and product_id not in (select unnest($10::integer[]))
   ),
   added as (
     insert into product_slots (slot_id, product_id)
     select written.id, product_id from written, unnest($10::integer[]) as product_id
     order by product_id
     on conflict do nothing
   ),
   ${insertSnippets('written')},
   ${requestForEach('written')}
   select ${slotColumns}, ${snippetCheckColumns}, ${storeRequestId},
     exists (select from slots as present where present.id = $5) as "slotExists"
   from snippet_checks left join written as slots on true`,
);

/**
 * Spec 4.1, updateSlot, rules 1 to 5: one statement, which writes only when the slot exists and the
 * snippets can be stored. What it throws is for the handler to wrap.
 *
 * @throws NOT_FOUND, and what `createSlot` throws.
 */
export async function updateSlot(db: Connection, id: number, input: SlotInput): Promise<WrittenSlot> {
  const { deliveryTime, freezeTime } = readTimes(input);
  // 1, 2: times and active flag; ids of no product group are dropped.
  const { isActive = true, groupIds, productIds } = input;
  // 3: given products replace the associations.
  const locks = productIds === undefined ? [] : [slotProductsLock(id)];
  // 4: given snippets are added.
  const given = readSnippets(input.vendorSnippets);
  const values = [...given.values, id, deliveryTime, freezeTime, isActive, groupIds, productIds];
  // 5: all of it or nothing.
  const [slot] = await untilSnippetsSettle(() => db.batch(locks, bind(updateSlotRow, values)));
  if (!slot?.slotExists) throw fail(slotErrors.slotNotFound);
  if (slot.id === null) return refuseSnippets(given, slot);
  return writtenSlot(slot, given);
}
