import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { timestampMs, ValueSchema } from '@bufbuild/protobuf/wkt';
import { expect } from 'vitest';
import type { OpenSlot } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import type { Replica } from '../support/replica.ts';

interface ShownSlot {
  readonly id: number;
  readonly deliveryMs: number;
  readonly freezeMs: number;
  readonly productIds: readonly number[];
}

const openSlots = `
  select id, floor(extract(epoch from delivery_time) * 1000)::float8 as "deliveryMs",
    floor(extract(epoch from freeze_time) * 1000)::float8 as "freezeMs",
    array(select product_id from product_slots where slot_id = slots.id order by product_id) as "productIds"
  from slots where is_active and not is_capacity_full and freeze_time > now()
    and not exists (select from slot_usage where slot_id = slots.id and held + booked >= capacity)
  order by delivery_time, id`;

/** Waits until the stores of each replica show what the tables say, and its delivery sequences are those of the tables. */
export async function expectTruth(sql: TestDatabase['sql'], replicas: readonly Replica[]): Promise<void> {
  const sequences = await sql<{ id: number; sequence: JsonValue }>(
    `select id, delivery_sequence as sequence from slots where delivery_sequence <> '{}'`,
  );
  for (const { slots: api, stores } of replicas) {
    // The sweeps look for writes whose jobs were lost, and for holds that have run out.
    await eventually(async () => {
      const slots = await sql<ShownSlot>(openSlots);
      const productIds = [...new Set(slots.flatMap((slot) => slot.productIds))];
      const [all, ofProducts] = [await stores.getOpenSlots({}), await stores.getProductSlots({ productIds })];
      expect(shown(all.slots)).toEqual(slots);
      const lists = Object.entries(ofProducts.slots).map(([id, list]) => [Number(id), shown(list.slots)]);
      expect(lists).toEqual(
        productIds.toSorted((a, b) => a - b).map((id) => [id, slots.filter((slot) => slot.productIds.includes(id))]),
      );
    }, 120_000);
    const read = async ({ id }: { readonly id: number }) => {
      const { deliverySequence } = await api.getDeliverySequence({ id: String(id) });
      return { id, sequence: deliverySequence && toJson(ValueSchema, deliverySequence) };
    };
    for (const one of sequences) expect(await read(one)).toEqual(one);
  }
}

const shown = (slots: readonly OpenSlot[]): ShownSlot[] =>
  slots.map(({ id, deliveryTime, freezeTime, productIds }) => ({
    ...{ id, productIds },
    deliveryMs: deliveryTime === undefined ? 0 : timestampMs(deliveryTime),
    freezeMs: freezeTime === undefined ? 0 : timestampMs(freezeTime),
  }));
