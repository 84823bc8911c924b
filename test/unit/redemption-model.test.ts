import { describe, expect, it } from 'vitest';
import { findAnomaly } from '../load/linearizability.ts';
import { type Call, type Deed, type Refusal, redemptionModel } from '../load/redemption-model.ts';

const model = redemptionModel(
  new Map([
    [1, { limit: 1, maxUses: 0, isExclusive: false }],
    [2, { limit: 0, maxUses: 0, isExclusive: false }],
    [3, { limit: 0, maxUses: 0, isExclusive: true }],
    [4, { limit: 0, maxUses: 1, isExclusive: false }],
  ]),
);
const from = (begunAt: number, answeredAt: number, deed: Deed): Call => ({ ...deed, begunAt, answeredAt });
const redeemed = (
  id: number,
  orderKey: string,
  { couponId = 1, heldUntil = 9_000, userId = 1, state = 'HELD' as const } = {},
): Deed => ({ ...{ kind: 'redeem', couponId, userId, orderKey }, answer: { valid: true, id, state, heldUntil } });
const refused = (orderKey: string, refusal: Refusal = 'LIMIT_REACHED', couponId = 1): Deed => ({
  ...{ kind: 'redeem', couponId, userId: 1, orderKey },
  answer: { valid: false, refusal, id: undefined },
});
const confirmed: Deed = { kind: 'confirm', id: 1, answer: 'USED' };
const released: Deed = { kind: 'release', id: 1 };
const claimed = (userId: number, couponId: number): Deed => ({
  ...{ kind: 'claim', secretCode: 'S', userId },
  answer: { couponId },
});

describe('The check of histories of redemptions', () => {
  const held = (heldUntil: number) => redeemed(1, 'a', { heldUntil });
  const other = (id: number, more = {}) => redeemed(id, 'a', { couponId: 2, ...more });
  const ofAll = (id: number, orderKey: string, more = {}) =>
    redeemed(id, orderKey, { couponId: 4, userId: id, ...more });
  const limited = (maxUses: number): Deed => ({ kind: 'limit', couponId: 4, maxUses });
  const listed = (...ids: number[]): Deed => ({
    kind: 'list',
    states: new Map(ids.map((id) => [id, 'HELD'] as const)),
  });
  /** A history: of each call when it began, when it was answered, and what it did. */
  const history = (...calls: (number | Deed)[]): Call[] => {
    const deeds = calls.filter((each): each is Deed => typeof each !== 'number');
    const times = calls.filter((each): each is number => typeof each === 'number');
    return deeds.map((deed, at) => from(times[2 * at] ?? 0, times[2 * at + 1] ?? 0, deed));
  };

  it.each<[string, Call[]]>([
    ['a hold, its confirmation and a refusal', history(0, 1, redeemed(1, 'a'), 2, 3, confirmed, 4, 5, refused('b'))],
    ['two at once of which one is refused', history(0, 9, refused('a'), 5, 9, redeemed(1, 'b'))],
    ['a use that is free again', history(0, 1, redeemed(1, 'a'), 2, 6, released, 3, 5, redeemed(2, 'b'))],
    ['a hold that runs out during the call that takes its use', history(0, 1, held(100), 50, 150, redeemed(2, 'b'))],
    [
      'an order that is redeemed anew, and keeps its redemption',
      history(0, 1, held(100), 2, 3, redeemed(1, 'a'), 200, 201, refused('b')),
    ],
    [
      'a use of all users that staff have added',
      history(0, 1, ofAll(1, 'a'), 2, 3, refused('b', 'USED_UP', 4), 4, 6, limited(2), 5, 7, ofAll(2, 'b')),
    ],
    ['a secret code that its user claims twice', history(0, 5, claimed(1, 8), 3, 9, claimed(1, 8))],
  ])('It explains %s', (_what, calls) => {
    expect(findAnomaly(calls, model)).toBeUndefined();
  });

  it.each<[string, number, Call[]]>([
    ['a limit that two orders exceed at once', 1, history(0, 9, redeemed(1, 'a'), 0, 9, redeemed(2, 'b'))],
    ['a limit that a hold exceeds that was said to run out', 1, history(0, 1, held(100), 50, 99, redeemed(2, 'b'))],
    ['a limit of all users that two exceed at once', 1, history(0, 9, ofAll(1, 'a'), 0, 9, ofAll(2, 'b'))],
    [
      'a refusal after staff have added a use',
      2,
      history(0, 1, ofAll(1, 'a'), 2, 3, limited(2), 4, 5, refused('b', 'USED_UP', 4)),
    ],
    ['a refusal where there is room', 0, history(0, 1, refused('a'))],
    ['a refusal after the use was given back', 2, history(0, 1, redeemed(1, 'a'), 2, 3, released, 4, 5, refused('b'))],
    ['an exclusive coupon beside another one', 1, history(0, 9, redeemed(1, 'a'), 0, 9, other(2, { couponId: 3 }))],
    ['two redemptions of one order', 1, history(0, 1, other(1), 2, 3, other(2))],
    ["another user's order that is given", 1, history(0, 1, other(1), 2, 3, other(1, { userId: 2 }))],
    ['a confirmation after a release', 2, history(0, 1, redeemed(1, 'a'), 2, 3, released, 4, 5, confirmed)],
    ['a redemption that is lost', 1, history(0, 1, redeemed(1, 'a'), 2, 3, listed())],
    ['a redemption that is doubled', 1, history(0, 1, other(1), 2, 3, listed(1, 2))],
    ['a secret code that two users claim', 1, history(0, 9, claimed(1, 8), 0, 9, claimed(2, 9))],
    ['a secret code that gives two coupons', 1, history(0, 9, claimed(1, 8), 0, 9, claimed(1, 9))],
  ])('It finds %s', (_what, explained, calls) => {
    expect(findAnomaly(calls, model)?.explained).toBe(explained);
  });
});
