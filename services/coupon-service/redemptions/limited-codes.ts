import { LRUCache } from 'lru-cache';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { Locks } from '../../../shared/rpc/implementation.ts';
import { toLookedUpForm } from '../coupons/judgement.ts';

/**
 * The codes of coupons whose uses of all users are limited, as far as this replica has met them. Their calls lock the
 * coupon, so they take turns (design 15): many orders may want the same one. Calls that come before the first one has
 * read the coupon have no turn, which does no harm: the locks of the database decide.
 */
export class LimitedCodes {
  readonly #locks = new LRUCache<string, string>({ max: 10_000 });

  /** Remembers whether the coupon of a code, in the form in which coupons are looked up, is limited. */
  note(code: string, { id, maxUses }: { readonly id: number; readonly maxUses: number }): void {
    if (maxUses > 0) this.#locks.set(code, `coupon ${id}`);
    else this.#locks.delete(code);
  }

  /** The locks at which calls take turns. */
  get locks(): Locks<typeof RedemptionService> {
    return { redeem: async ({ code }) => this.#locks.get(toLookedUpForm(code)) };
  }
}
