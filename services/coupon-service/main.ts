import { runService } from '../../shared/runtime/run-service.ts';
import { startCouponService } from './service.ts';

await runService('coupon', startCouponService);
