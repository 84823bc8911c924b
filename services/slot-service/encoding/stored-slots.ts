import { create, toJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type OpenSlot, OpenSlotSchema } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { type TextWriter, writeSlices, writeTexts } from '../../../shared/rpc/protobuf/batches.ts';
import { encodeMessage, jsonWriteOptions } from '../../../shared/rpc/protobuf/encoding.ts';
import type { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { Batch } from '../../../shared/rpc/protobuf/turns.ts';
import type { StoredSlot } from '../stores/content.ts';

// A slot is in the lists of all its products: it is encoded once a version of the stores.
const binaries = new WeakMap<StoredSlot, Buffer>();
const texts = new WeakMap<StoredSlot, string>();

// Its first encoding may take a batch of its own.
const unitsOf = ({ productIds }: StoredSlot) => 1 + productIds.length / 100;

/** Writes slots under a field that is a list of them. Yields when the batch is over. */
export function writeStoredSlots(
  batch: Batch,
  writer: FieldWriter,
  field: number,
  slots: readonly StoredSlot[],
): Iterable<number> {
  const write = (slice: readonly StoredSlot[]) => {
    for (const slot of slice) writer.bytes(field, binaryOf(slot));
  };
  return writeSlices(batch, writer, slots, write, unitsOf);
}

/** Writes slots as the items of a JSON array. Yields when the batch is over. */
export function writeStoredSlotsJson(batch: Batch, writer: TextWriter, slots: readonly StoredSlot[]): Iterable<number> {
  return writeTexts(batch, writer, slots, (slice) => slice.map(textOf).join(), unitsOf);
}

/** A slot as a message. */
export function openSlot({ id, deliveryMs, freezeMs, productIds }: StoredSlot): OpenSlot {
  const times = { deliveryTime: timestampFromMs(deliveryMs), freezeTime: timestampFromMs(freezeMs) };
  return create(OpenSlotSchema, { id, ...times, productIds: [...productIds] });
}

/** A timestamp in JSON, with its quotes. */
export const timestampText = (timestamp: Timestamp) => JSON.stringify(toJson(TimestampSchema, timestamp));

function binaryOf(slot: StoredSlot): Buffer {
  const binary = binaries.get(slot) ?? encodeMessage(OpenSlotSchema, openSlot(slot));
  binaries.set(slot, binary);
  return binary;
}

function textOf(slot: StoredSlot): string {
  const text = texts.get(slot) ?? JSON.stringify(toJson(OpenSlotSchema, openSlot(slot), jsonWriteOptions));
  texts.set(slot, text);
  return text;
}
