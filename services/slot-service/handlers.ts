import type { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import type { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import type { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import type { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handlers } from '../../shared/rpc/implementation.ts';
import type {
  BookingParts,
  CatalogParts,
  ImportParts,
  SlotOverviewParts,
  SlotParts,
  SlotPlanParts,
  StoreParts,
} from './parts.ts';
import { book } from './procedures/book.ts';
import { confirm } from './procedures/confirm.ts';
import { copySlots } from './procedures/copy-slots.ts';
import { createSlot } from './procedures/create-slot.ts';
import { deleteSlot } from './procedures/delete-slot.ts';
import { getAll } from './procedures/get-all.ts';
import { getAvailability } from './procedures/get-availability.ts';
import { getDeliverySequence } from './procedures/get-delivery-sequence.ts';
import { getOpenSlots } from './procedures/get-open-slots.ts';
import { getOrders } from './procedures/get-orders.ts';
import { getOverview } from './procedures/get-overview.ts';
import { getProductSlots } from './procedures/get-product-slots.ts';
import { getProducts } from './procedures/get-products.ts';
import { getSlotById } from './procedures/get-slot-by-id.ts';
import { getSlots } from './procedures/get-slots.ts';
import { getSlotsProductIds } from './procedures/get-slots-product-ids.ts';
import { getStoreStatus } from './procedures/get-store-status.ts';
import { getUsers } from './procedures/get-users.ts';
import { importOrders } from './procedures/import-orders.ts';
import { importProductGroups } from './procedures/import-product-groups.ts';
import { importProducts } from './procedures/import-products.ts';
import { importUsers } from './procedures/import-users.ts';
import { listBookings } from './procedures/list-bookings.ts';
import { listProductGroups } from './procedures/list-product-groups.ts';
import { listSlots } from './procedures/list-slots.ts';
import { listStaff } from './procedures/list-staff.ts';
import { move } from './procedures/move.ts';
import { release } from './procedures/release.ts';
import { resolve } from './procedures/resolve.ts';
import { searchProducts } from './procedures/search-products.ts';
import { searchSnippets } from './procedures/search-snippets.ts';
import { updateDeliverySequence } from './procedures/update-delivery-sequence.ts';
import { updateSlot } from './procedures/update-slot.ts';
import { updateSlotCapacity } from './procedures/update-slot-capacity.ts';
import { updateSlotProducts } from './procedures/update-slot-products.ts';
import { updateSlots } from './procedures/update-slots.ts';
import { watchStore } from './procedures/watch-store.ts';

/** The slot procedures (spec 4.1). */
export function createSlotHandlers(parts: SlotParts): Handlers<typeof SlotService> {
  return {
    getAll: getAll(parts),
    getSlotsProductIds: getSlotsProductIds(parts),
    updateSlotProducts: updateSlotProducts(parts),
    createSlot: createSlot(parts),
    getSlots: getSlots(parts),
    getSlotById: getSlotById(parts),
    updateSlot: updateSlot(parts),
    deleteSlot: deleteSlot(parts),
    getDeliverySequence: getDeliverySequence(parts),
    updateDeliverySequence: updateDeliverySequence(parts),
    updateSlotCapacity: updateSlotCapacity(parts),
  };
}

/** The planning of many slots (design 12). */
export function createSlotPlanHandlers(parts: SlotPlanParts & SlotOverviewParts): Handlers<typeof SlotPlanService> {
  return {
    listSlots: listSlots(parts),
    copySlots: copySlots(parts),
    updateSlots: updateSlots(parts),
    getOverview: getOverview(parts),
  };
}

/** The bookings of slots (design 15). */
export function createSlotBookingHandlers(parts: BookingParts): Handlers<typeof SlotBookingService> {
  return {
    book: book(parts),
    confirm: confirm(parts),
    release: release(parts),
    move: move(parts),
    getAvailability: getAvailability(parts),
    listBookings: listBookings(parts),
  };
}

/** The reads of the derived stores (design 4), served from this process's memory. */
export function createSlotStoreHandlers(parts: StoreParts): Handlers<typeof SlotStoreService> {
  return {
    getOpenSlots: getOpenSlots(parts),
    getProductSlots: getProductSlots(parts),
    getStoreStatus: getStoreStatus(parts),
    watchStore: watchStore(parts),
  };
}

/** The look-ups, by which people choose and recognise records (design 11). */
export function createCatalogHandlers(parts: CatalogParts): Handlers<typeof CatalogService> {
  return {
    searchProducts: searchProducts(parts),
    getProducts: getProducts(parts),
    listProductGroups: listProductGroups(parts),
    getUsers: getUsers(parts),
    listStaff: listStaff(parts),
    getOrders: getOrders(parts),
    searchSnippets: searchSnippets(parts),
    resolve: resolve(parts),
  };
}

/** The imports of a business's own records (design 14). */
export function createImportHandlers(parts: ImportParts): Handlers<typeof ImportService> {
  return {
    importUsers: importUsers(parts),
    importProducts: importProducts(parts),
    importProductGroups: importProductGroups(parts),
    importOrders: importOrders(parts),
  };
}
