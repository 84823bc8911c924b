// A model of coupons that are redeemed.

import { inOrder, type Model, type Span } from './linearizability.ts';

interface Coupon {
  /** How many live redemptions a user may have, and all users; 0: no limit. */
  readonly limit: number;
  readonly maxUses: number;
  readonly isExclusive: boolean;
}

/** The coupons of a history by id, as they are at first. */
export type Coupons = ReadonlyMap<number, Coupon>;

export type State = 'HELD' | 'USED' | 'RELEASED' | 'EXPIRED';

export type Refusal = 'EXCLUSIVE' | 'LIMIT_REACHED' | 'USED_UP';

/** What a call asked for, and what it was answered. */
export type Deed =
  | {
      readonly kind: 'redeem';
      readonly couponId: number;
      readonly userId: number;
      readonly orderKey: string;
      /** With `valid`, the redemption and its state. Without, the one that the order keeps, if any. */
      readonly answer:
        | { readonly valid: true; readonly id: number; readonly state: State; readonly heldUntil: number }
        | { readonly valid: false; readonly refusal: Refusal; readonly id: number | undefined }
        | 'ORDER_KEY_TAKEN';
    }
  | { readonly kind: 'confirm'; readonly id: number; readonly answer: 'USED' | 'HOLD_EXPIRED' | 'REDEMPTION_RELEASED' }
  | { readonly kind: 'release'; readonly id: number }
  | {
      readonly kind: 'claim';
      readonly secretCode: string;
      readonly userId: number;
      readonly answer: { readonly couponId: number } | 'SECRET_CODE_CLAIMED';
    }
  /** Staff limit the uses of all users. */
  | { readonly kind: 'limit'; readonly couponId: number; readonly maxUses: number }
  /** All redemptions, as they were read. */
  | { readonly kind: 'list'; readonly states: ReadonlyMap<number, State> };

export type Call = Deed & Span;

interface Redemption {
  readonly couponId: number;
  readonly userId: number;
  readonly orderKey: string;
  readonly state: State;
  readonly heldUntil: number;
}

interface World {
  readonly coupons: Coupons;
  readonly redemptions: ReadonlyMap<number, Redemption>;
  /** Who has claimed each secret code, and the coupon. */
  readonly claims: ReadonlyMap<string, { readonly userId: number; readonly couponId: number }>;
}

const stateAt = ({ state, heldUntil }: Redemption, at: number): State =>
  state === 'HELD' && at >= heldUntil ? 'EXPIRED' : state;

/** Returns the world after a call at a time; undefined if the answer does not follow from the world. */
function after(world: World, call: Call, at: number): World | undefined {
  const { coupons } = world;
  const isLive = (redemption: Redemption) => ['HELD', 'USED'].includes(stateAt(redemption, at));
  const all = [...world.redemptions];
  /** Why there is no room for a redemption; the one with `ownId` does not count. */
  const refusalOf = (wanted: Pick<Redemption, 'couponId' | 'userId' | 'orderKey'>, ownId: number | undefined) => {
    const live = all
      .filter(([id, redemption]) => id !== ownId && isLive(redemption))
      .map(([, redemption]) => redemption);
    const isExclusive = (couponId: number) => coupons.get(couponId)?.isExclusive === true;
    const inOrder = live.filter(
      ({ orderKey, couponId }) => orderKey === wanted.orderKey && couponId !== wanted.couponId,
    );
    if (inOrder.some(({ couponId }) => isExclusive(couponId) || isExclusive(wanted.couponId))) return 'EXCLUSIVE';
    const uses = live.filter(({ couponId }) => couponId === wanted.couponId);
    const usesOfUser = uses.filter(({ userId }) => userId === wanted.userId);
    const { limit = 0, maxUses = 0 } = coupons.get(wanted.couponId) ?? {};
    if (limit > 0 && usesOfUser.length >= limit) return 'LIMIT_REACHED';
    return maxUses > 0 && uses.length >= maxUses ? 'USED_UP' : undefined;
  };
  const withRedemption = (id: number, redemption: Redemption): World => ({
    ...world,
    redemptions: new Map(world.redemptions).set(id, redemption),
  });
  switch (call.kind) {
    case 'redeem': {
      const { couponId, userId, orderKey, answer } = call;
      const [own] = all.filter(([, each]) => each.couponId === couponId && each.orderKey === orderKey && isLive(each));
      if (own !== undefined && own[1].userId !== userId) return answer === 'ORDER_KEY_TAKEN' ? world : undefined;
      if (answer === 'ORDER_KEY_TAKEN') return undefined;
      if (own?.[1].state === 'USED')
        return answer.valid && answer.id === own[0] && answer.state === 'USED' ? world : undefined;
      const refusal = refusalOf(call, own?.[0]);
      if (refusal !== undefined)
        return !answer.valid && answer.refusal === refusal && answer.id === own?.[0] ? world : undefined;
      if (!answer.valid) return undefined;
      const isSame = own === undefined ? !world.redemptions.has(answer.id) : own[0] === answer.id;
      const { state, heldUntil } = answer;
      return isSame ? withRedemption(answer.id, { couponId, userId, orderKey, state, heldUntil }) : undefined;
    }
    case 'confirm': {
      const found = world.redemptions.get(call.id);
      if (found === undefined) return undefined;
      const state = stateAt(found, at);
      if (state === 'RELEASED') return call.answer === 'REDEMPTION_RELEASED' ? world : undefined;
      const isTaken = all.some(
        ([, each]) => each.couponId === found.couponId && each.orderKey === found.orderKey && isLive(each),
      );
      const isRefused = state === 'EXPIRED' && (isTaken || refusalOf(found, call.id) !== undefined);
      if (isRefused) return call.answer === 'HOLD_EXPIRED' ? world : undefined;
      return call.answer === 'USED' ? withRedemption(call.id, { ...found, state: 'USED' }) : undefined;
    }
    case 'release': {
      const found = world.redemptions.get(call.id);
      return found && withRedemption(call.id, { ...found, state: 'RELEASED' });
    }
    case 'claim': {
      const { secretCode, userId, answer } = call;
      const claim = world.claims.get(secretCode);
      if (answer === 'SECRET_CODE_CLAIMED') return claim !== undefined && claim.userId !== userId ? world : undefined;
      const { couponId } = answer;
      if (claim !== undefined) return claim.userId === userId && claim.couponId === couponId ? world : undefined;
      return { ...world, claims: new Map(world.claims).set(secretCode, { userId, couponId }) };
    }
    case 'limit': {
      const coupon = coupons.get(call.couponId);
      return coupon && { ...world, coupons: new Map(coupons).set(call.couponId, { ...coupon, maxUses: call.maxUses }) };
    }
    case 'list': {
      const isSame =
        all.length === call.states.size && all.every(([id, each]) => call.states.get(id) === stateAt(each, at));
      return isSame ? world : undefined;
    }
  }
}

/** The model of these coupons. */
export const redemptionModel = (coupons: Coupons): Model<World, Call> => ({
  start: { coupons, redemptions: new Map(), claims: new Map() },
  after,
  // What is used or released once is never held again.
  changesNothingLater: () => true,
  endsIn: ({ redemptions }) =>
    [...redemptions.values()].filter(({ state }) => state === 'HELD').map(({ heldUntil }) => heldUntil),
  toKey: ({ coupons, redemptions, claims }) => [inOrder(coupons), inOrder(redemptions), inOrder(claims)],
});
