import type { ErrorRow } from '../../shared/rpc/errors.ts';

/** Every error of the coupon procedures (spec 4.2, design 3). */
export const couponErrors = {} as const satisfies Record<string, ErrorRow>;
