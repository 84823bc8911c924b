import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import { expect, onTestFinished } from 'vitest';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import type { Replica } from '../support/replica.ts';
import { requestIdOf } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';

const newSlot = { deliveryTime: '2090-05-02T00:00:00Z', freezeTime: '2090-05-01T00:00:00Z', productIds: [1, 2] };

/** What callers have written before a moment, or after it: a write of each kind. */
export interface Records {
  /** The id of the slot that was created with a key, and the `store-request-id` of that call. */
  readonly slotId: number;
  readonly requestId: string;
  /** The code of a coupon that each user may use once. User 1 has used it, user 2 holds it, user 3 for a second. */
  readonly code: string;
  readonly couponId: number;
  readonly redemptionIds: readonly number[];
}

/** Those who call a replica of each service. */
export class Callers {
  readonly redemptions: Client<typeof RedemptionService>;
  readonly audit: Client<typeof AuditService>;
  readonly #slot: Replica;
  readonly #coupon: Replica;

  private constructor(slot: Replica, coupon: Replica, token: string) {
    [this.#slot, this.#coupon] = [slot, coupon];
    const connect = ({ ports }: Replica) => {
      const transport = createGrpcJsTransport(`127.0.0.1:${ports.grpcPort}`);
      onTestFinished(() => transport.close());
      return withToken(transport, token);
    };
    this.redemptions = createClient(RedemptionService, connect(coupon));
    this.audit = createClient(AuditService, connect(slot));
  }

  static async of(slot: Replica, coupon: Replica): Promise<Callers> {
    return new Callers(slot, coupon, await signToken({ staffId: 1 }));
  }

  /** Creates a slot by a call with a key. Resolves with its ids, and whether the answer is a replay. */
  async createSlot(key: string, xRequestId: string = key) {
    let [slotId, isReplay] = [0, false];
    const requestId = await requestIdOf(async ({ onHeader }) => {
      const headers = { 'idempotency-key': key, 'x-request-id': xRequestId };
      const { slot } = await this.#slot.slots.createSlot(newSlot, {
        headers,
        onHeader(received) {
          isReplay = received.has('idempotent-replayed');
          onHeader?.(received);
        },
      });
      slotId = slot?.id ?? 0;
    });
    return { slotId, requestId: requestId ?? '', isReplay };
  }

  /**
   * Makes a write of each kind, in calls whose `x-request-id` begins with the name.
   *
   * @param sequenced the slot that gets the delivery sequence `{"1": [turn]}`; unset: the new one.
   */
  async write(name: string, turn: number, sequenced?: number): Promise<Records> {
    const named = (call: string): CallOptions => ({ headers: { 'x-request-id': `${name}-${call}` } });
    const { slotId, requestId } = await this.createSlot(`${name}-slot`);
    const deliverySequence = fromJson(ValueSchema, { 1: [turn] });
    await this.#slot.slots.updateDeliverySequence({ id: sequenced ?? slotId, deliverySequence }, named('sequence'));
    const terms = { flatDiscount: 5, isApplyForAll: true, maxLimitForUser: 1 };
    const { coupon } = await this.#coupon.coupons.create({ coupon: { couponCode: name, ...terms } }, named('coupon'));
    const hold = async (userId: number, holdSeconds: number) => {
      const order = { userId, orderKey: `${name}-${userId}`, orderAmount: 100 };
      const request = { code: name, ...order, holdSeconds };
      const { redemption } = await this.redemptions.redeem(request, named(`user-${userId}`));
      return redemption?.id ?? 0;
    };
    const redemptionIds = [await hold(1, 900), await hold(2, 86_400), await hold(3, 1)];
    await this.redemptions.confirm({ redemptionId: redemptionIds[0] ?? 0 }, named('confirm'));
    return { slotId, requestId, code: name, couponId: coupon?.id ?? 0, redemptionIds };
  }

  /** Writes while `work` runs, and expects that each write succeeds. Resolves with what `work` resolves with. */
  async writeDuring<Result>(work: () => Promise<Result>): Promise<Result> {
    let [isDone, written] = [false, 0];
    const each = async (write: (n: number) => Promise<unknown>) => {
      while (!isDone) {
        await write(written);
        written += 1;
      }
    };
    const writing = Promise.all([
      each((n) => this.createSlot(`meanwhile-${n}`)),
      each((n) =>
        this.#coupon.coupons.create({ coupon: { couponCode: `MEANWHILE-${n}`, flatDiscount: 5, isApplyForAll: true } }),
      ),
    ]);
    await expect.poll(() => written).toBeGreaterThan(10);
    const before = written;
    const result = await work();
    expect(written).toBeGreaterThan(before);
    isDone = true;
    await writing;
    return result;
  }

  /** Whether an order of a user gets a use of a coupon, or why not. */
  async redeem(code: string, userId: number): Promise<string> {
    const { valid, message } = await this.redemptions.redeem({
      code,
      userId,
      orderKey: `later-${userId}`,
      orderAmount: 9,
    });
    return valid ? 'valid' : (message ?? '');
  }
}
