import { runService } from '../../shared/rpc/run.ts';
import { startCouponService } from './service.ts';

await runService('coupon', startCouponService);
