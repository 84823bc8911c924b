import type { DescService } from '@bufbuild/protobuf';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';

// The services of the contract, by the process that has them. Both processes have AuditService.
export const slotServices: readonly DescService[] = [
  SlotService,
  SlotBookingService,
  SlotStoreService,
  SlotPlanService,
  CatalogService,
  ImportService,
];
export const couponServices: readonly DescService[] = [CouponService, RedemptionService, CouponBatchService];
export const allServices: readonly DescService[] = [...slotServices, ...couponServices, AuditService];
