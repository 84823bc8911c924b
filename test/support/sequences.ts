import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import pg from 'pg';
import { eventually } from './eventually.ts';
import type { Replica } from './replica.ts';
import type { Stage } from './stage.ts';

/** Stores a sequence that contains the turn. */
export async function updateSequence(replica: Replica, slotId: number, turn: number): Promise<void> {
  const deliverySequence = fromJson(ValueSchema, { 1: [turn] });
  await replica.slots.updateDeliverySequence({ id: slotId, deliverySequence });
}

/** The turn in the sequence that a replica serves; 0 without one. */
export async function readSequence(replica: Replica, slotId: number): Promise<number> {
  const { deliverySequence } = await replica.slots.getDeliverySequence({ id: String(slotId) });
  if (deliverySequence === undefined) return 0;
  const sequence = toJson(ValueSchema, deliverySequence);
  const [turn] = Object.values(sequence ?? {}).flat();
  return Number(turn ?? 0);
}

/** Stores a sequence without a notification: only the caches still have the old one. */
export async function hideSequence(stage: Stage, slotId: number, turn: number): Promise<void> {
  await stage.database.sql('update slots set delivery_sequence = $2 where id = $1', [slotId, { 1: [turn] }]);
}

/** Waits until the replicas have received every notification that was sent before this call: they arrive in order. */
export async function untilNotified(stage: Stage, replicas: readonly Replica[]): Promise<void> {
  const [row] = await stage.database.sql<{ version: number }>(
    `with raised as (
       insert into store_versions (version, refreshed_at, snapshot)
       select version + 1, refreshed_at, snapshot from store_versions order by version desc limit 1 returning version
     )
     select version, pg_notify('store_version', version::text) from raised`,
  );
  await eventually(async () => {
    for (const { stores } of replicas) {
      const { version } = await stores.getOpenSlots({});
      if (version < (row?.version ?? 0)) throw new Error(`the replica has version ${version}`);
    }
  });
}

/** Collects the slots whose sequences are notified as changed. */
export async function listenForSequences(stage: Stage): Promise<{ readonly slotIds: number[]; stop(): Promise<void> }> {
  const client = new pg.Client({ connectionString: stage.database.url });
  const slotIds: number[] = [];
  client.on('notification', ({ payload }) => slotIds.push(Number(JSON.parse(payload ?? '{}').slotId)));
  await client.connect();
  await client.query('listen delivery_sequence');
  return { slotIds, stop: () => client.end() };
}

/** Waits until PostgreSQL has answered a read of a sequence that began after a moment. */
export async function untilAnswered(stage: Stage, since: Date): Promise<void> {
  await eventually(async () => {
    const answered = await stage.database.sql(
      `select from pg_stat_activity where datname = current_database() and application_name = 'slot-service'
       and query like '%delivery_sequence%from slots%' and query not like '%update%' and state = 'idle'
       and query_start > $1`,
      [since],
    );
    if (answered.length === 0) throw new Error('no sequence was read');
  });
}
