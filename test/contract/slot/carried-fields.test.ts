import { type DescField, fromJson, type JsonValue, ScalarType } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { CreateSlotRequestSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { OpenSlotSchema, SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { slotContract } from '../../support/contract.ts';

const weekMs = 7 * 24 * 3_600_000;
const times = { deliveryTime: '2090-03-02T10:00:00Z', freezeTime: '2090-03-02T08:00:00Z' };
/** Names belong to one slot: they are records of their own. */
const fields = CreateSlotRequestSchema.fields.filter(({ localName }) => localName !== 'vendorSnippets');
/** A copy is active, whatever its source is. */
const ofCopies = fields.filter(({ localName }) => localName !== 'isActive');
const ofStores = OpenSlotSchema.fields.map(({ localName }) => localName);

/** A value that differs from that of a slot with its times alone. */
function sampleOf({ fieldKind, scalar, name }: DescField): JsonValue {
  if (fieldKind === 'list') return [2, 3];
  if (scalar === ScalarType.BOOL) return false;
  if (scalar === ScalarType.STRING) return '2090-03-02T09:00:00Z';
  if (scalar === ScalarType.INT32) return 7;
  throw new Error(`${name} needs a sample`);
}

slotContract('The fields of a slot', (api) => {
  const plan = createClient(SlotPlanService, api.transportAs('staff'));
  const stores = createClient(SlotStoreService, api.transportAs('staff'));
  type Sample = { readonly [field: string]: JsonValue };

  const byCreate = async (sample: Sample) =>
    (await api.staff.createSlot(fromJson(CreateSlotRequestSchema, { ...times, ...sample }))).slot?.id ?? 0;
  const byUpdate = async ({ productIds, ...sample }: Sample) => {
    const id = await byCreate({});
    // It tells "no products" from "as they are" by a message.
    const { productIds: ids, ...given } = fromJson(CreateSlotRequestSchema, {
      ...times,
      ...sample,
      ...(productIds !== undefined && { productIds }),
    });
    const { $typeName: _name, ...request } = given;
    await api.staff.updateSlot({ ...request, id, ...(ids.length > 0 && { productIds: { ids } }) });
    return id;
  };
  const byCopy = async (sample: Sample) => {
    const slotIds = [await byCreate(sample)];
    const { copies } = await plan.copySlots({ slotIds, shiftDays: 7, timeZone: 'UTC' });
    return copies[0]?.slot?.id ?? 0;
  };

  /** The field of a slot, as GetSlotById has it; a time as milliseconds after that which was asked for. */
  const read = async (id: number, { localName }: DescField, shiftMs = 0) => {
    const { slot } = await api.staff.getSlotById({ id });
    if (slot === undefined) throw new Error('there is no slot');
    const shown = { ...slot, productIds: slot.products.map(({ id }) => id) };
    const value = new Map<string, unknown>(Object.entries(shown)).get(localName);
    const time = { deliveryTime: slot.deliveryTime, freezeTime: slot.freezeTime };
    const found = new Map(Object.entries(time)).get(localName);
    // The next slot may have its time.
    await api.sql('update slots set is_active = false where id = $1', [id]);
    return found === undefined ? value : timestampMs(found) - shiftMs;
  };

  it.each([
    ...fields.map((field) => ['CreateSlot', field.localName, field, byCreate, 0] as const),
    ...fields.map((field) => ['UpdateSlot', field.localName, field, byUpdate, 0] as const),
    ...ofCopies.map((field) => ['CopySlots', field.localName, field, byCopy, weekMs] as const),
  ])('%s carries %s into the slot and the audit trail', async (rpc, name, field, make, shiftMs) => {
    const sample = { [field.jsonName]: sampleOf(field) };
    const carried = await read(await byCreate(sample), field);
    expect(carried).not.toEqual(await read(await byCreate({}), field));
    const id = await make(sample);
    expect(await read(id, field, shiftMs)).toEqual(carried);
    const entries = await api.sql(
      `select from audit_entries where procedure like $1 and resource_id = $2 and after::jsonb ? $3`,
      [`%/${rpc}`, String(id), name],
    );
    expect(entries).toHaveLength(1);
  });

  it('The stores carry each field that an open slot has', async () => {
    const given = fields.filter(({ localName }) => ofStores.includes(localName));
    const samples = Object.fromEntries(given.map((field) => [field.jsonName, sampleOf(field)]));
    const id = await byCreate({ ...samples, freezeTime: times.freezeTime });
    const open = async () => (await stores.getOpenSlots({})).slots.find((slot) => slot.id === id);
    await expect.poll(open).toBeDefined();
    const { slot } = await api.staff.getSlotById({ id });
    const shown = new Map<string, unknown>(Object.entries((await open()) ?? {}));
    const expected = new Map<string, unknown>(
      Object.entries({ ...slot, productIds: slot?.products.map((product) => product.id) }),
    );
    for (const { localName } of given) expect(shown.get(localName), localName).toEqual(expected.get(localName));
    expect(given.length).toBeGreaterThan(4);
  });
});
