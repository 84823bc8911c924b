import { create, fromJson, type JsonValue, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate, ValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectError } from '@connectrpc/connect';
import type { Database } from '../../shared/db/database.ts';
import { errorInfo, fail, toPublicError } from '../../shared/errors/errors.ts';
import {
  GetDeliverySequenceResponseSchema,
  type SlotSchema,
  type SlotService,
  type VendorSnippetInput,
  type VendorSnippetSchema,
} from '../../shared/gen/slot/v1/slot_service_pb.ts';
import type { CallContext } from '../../shared/rpc/call-context.ts';
import type { Handlers } from '../../shared/rpc/implementation.ts';
import { CachedResponse } from '../../shared/rpc/protobuf/encoding.ts';
import { readJson } from '../../shared/rpc/protobuf/json-value.ts';
import { updateSlotCapacity } from './capacity.ts';
import { slotErrors } from './errors.ts';
import { getSlotsProductIds, updateSlotProducts } from './products.ts';
import {
  flattenSequence,
  getDeliverySequence,
  isSequenceMap,
  parseSlotId,
  type SequenceCache,
  updateDeliverySequence,
} from './sequence.ts';
import { SlotDetailAnswer } from './slot-detail.ts';
import { ListedSlotsAnswer, SlotsAnswer } from './slot-lists.ts';
import { ProductIdsAnswer } from './slot-product-ids.ts';
import { createSlot, updateSlot } from './slot-writes.ts';
import { deleteSlot, getAll, getSlotById, getSlots, type SlotRow } from './slots.ts';
import type { SnippetInput, SnippetRow } from './snippets.ts';

export interface SlotHandlerParts {
  readonly database: Database;
  readonly sequences: SequenceCache;
  /** Where a snippet's access URL starts, without a slash at its end. */
  readonly appUrl: string;
  /** Asks for a store refresh after a commit; neither waits nor throws (design 4, step 2). */
  requestRefresh(): void;
}

/** The eleven slot procedures (spec 4.1): from protobuf to plain values, to the rule, and back. */
export function createSlotHandlers(parts: SlotHandlerParts): Handlers<typeof SlotService> {
  const { database, sequences, appUrl } = parts;

  /** Asks for the refresh of a committed write, and tells the caller its id to read its own write by. */
  function refresh(call: CallContext, storeRequestId: string): void {
    call.responseHeaders.set('store-request-id', storeRequestId);
    parts.requestRefresh();
  }

  const sequenceAnswers = new SequenceAnswers();

  return {
    async getAll(_request, call) {
      const { slots, products } = await getAll(database.withSignal(call.signal));
      return new ListedSlotsAnswer(slots, products);
    },

    async getSlotsProductIds(request, call) {
      return new ProductIdsAnswer(await getSlotsProductIds(database.withSignal(call.signal), request.slotIds));
    },

    async updateSlotProducts(request, call) {
      const { added, removed, storeRequestId } = await updateSlotProducts(database.withSignal(call.signal), request);
      refresh(call, storeRequestId);
      return { message: 'Slot products updated successfully', added, removed };
    },

    async createSlot(request, call) {
      const written = await createSlot(database.withSignal(call.signal), {
        deliveryTime: request.deliveryTime,
        freezeTime: request.freezeTime,
        isActive: request.isActive,
        productIds: request.productIds,
        vendorSnippets: request.vendorSnippets.map(toSnippetInput),
        groupIds: request.groupIds,
      });
      refresh(call, written.storeRequestId);
      return {
        slot: toSlot(written.slot),
        createdSnippets: written.createdSnippets.map(toSnippet),
        message: 'Slot created successfully',
      };
    },

    async getSlots(_request, call) {
      return new SlotsAnswer(await getSlots(database.withSignal(call.signal)));
    },

    async getSlotById(request, call) {
      const slot = await getSlotById(database.withSignal(call.signal), request.id);
      const vendorSnippets = slot.vendorSnippets.map((snippet) => ({
        ...snippet,
        accessUrl: `${appUrl}/vendor-order-list?id=${encodeURIComponent(snippet.snippetCode)}`,
      }));
      return new SlotDetailAnswer({
        slot,
        deliverySequence: flattenSequence(slot.deliverySequence),
        vendorSnippets,
      });
    },

    async updateSlot(request, call) {
      const written = await updateSlot(database.withSignal(call.signal), request.id, {
        deliveryTime: request.deliveryTime,
        freezeTime: request.freezeTime,
        isActive: request.isActive,
        productIds: request.productIds?.ids,
        vendorSnippets: request.vendorSnippets.map(toSnippetInput),
        groupIds: request.groupIds,
      }).catch((error: unknown) => {
        throw toUpdateFailure(error, call);
      });
      refresh(call, written.storeRequestId);
      return {
        slot: toSlot(written.slot),
        createdSnippets: written.createdSnippets.map(toSnippet),
        message: 'Slot updated successfully',
      };
    },

    async deleteSlot(request, call) {
      const { storeRequestId } = await deleteSlot(database.withSignal(call.signal), request.id);
      refresh(call, storeRequestId);
      return { message: 'Slot deleted successfully' };
    },

    async getDeliverySequence(request, call) {
      const slotId = parseSlotId(request.id);
      return sequenceAnswers.of(await getDeliverySequence(database.withSignal(call.signal), sequences, slotId));
    },

    async updateDeliverySequence(request, call) {
      const deliverySequence = readJson('delivery_sequence', request.deliverySequence);
      const update = isSequenceMap(deliverySequence) ? sequences.beginUpdate(request.id) : undefined;
      const slot = await updateDeliverySequence(
        database.withSignal(call.signal),
        { id: request.id, deliverySequence },
        update,
      ).catch((error: unknown) => {
        update?.failed();
        throw error;
      });
      if (isSequenceMap(slot.deliverySequence)) update?.keep(slot.deliverySequence);
      return {
        slot: { id: slot.id, deliverySequence: fromJson(ValueSchema, slot.deliverySequence) },
        message: 'Delivery sequence updated successfully',
      };
    },

    async updateSlotCapacity(request, call) {
      const { slot, storeRequestId } = await updateSlotCapacity(database.withSignal(call.signal), request);
      refresh(call, storeRequestId);
      const message = request.isCapacityFull ? 'Slot marked as full capacity' : 'Slot capacity reset';
      return { success: true, slot: toSlot(slot), message };
    },
  };
}

/** The answers with sequences, made and encoded once for as long as the cache holds the sequence. */
class SequenceAnswers {
  readonly #answers = new WeakMap<object, CachedResponse<typeof GetDeliverySequenceResponseSchema>>();

  of(sequence: JsonValue): CachedResponse<typeof GetDeliverySequenceResponseSchema> {
    const key = typeof sequence === 'object' ? sequence : null;
    const known = key && this.#answers.get(key);
    if (known) return known;
    const message = create(GetDeliverySequenceResponseSchema, { deliverySequence: fromJson(ValueSchema, sequence) });
    const answer = new CachedResponse(GetDeliverySequenceResponseSchema, message);
    if (key) this.#answers.set(key, answer);
    return answer;
  }
}

/** Spec 7: every failure of updateSlot reads the same; its cause travels in the details. */
function toUpdateFailure(thrown: unknown, call: CallContext): ConnectError {
  const cause = toPublicError(thrown);
  // The caller has left, its deadline has passed, or the service stops.
  if (call.signal.aborted) return cause;
  const known = [Code.InvalidArgument, Code.NotFound, Code.AlreadyExists].includes(cause.code);
  const row = known ? slotErrors.slotNotUpdated : { ...slotErrors.slotNotUpdated, code: Code.Internal };
  return fail(row, {
    cause: thrown,
    metadata: { causeReason: errorInfo(cause)?.reason ?? '', causeMessage: cause.rawMessage },
  });
}

function toSnippetInput({ name, productIds, validTill }: VendorSnippetInput): SnippetInput {
  return { name, productIds, validTill };
}

function toSlot(slot: SlotRow) {
  return {
    id: slot.id,
    deliveryTime: timestampFromDate(slot.deliveryTime),
    freezeTime: timestampFromDate(slot.freezeTime),
    isActive: slot.isActive,
    isCapacityFull: slot.isCapacityFull,
    groupIds: slot.groupIds,
    deliverySequence: fromJson(ValueSchema, slot.deliverySequence ?? {}),
  } satisfies MessageInitShape<typeof SlotSchema>;
}

function toSnippet({ validTill, ...snippet }: SnippetRow) {
  const record = { ...snippet, ...(validTill === null ? {} : { validTill: timestampFromDate(validTill) }) };
  return record satisfies MessageInitShape<typeof VendorSnippetSchema>;
}
