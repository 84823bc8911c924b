import { describe, expect, it } from 'vitest';
import { type Call, type Deed, findAnomaly } from '../load/redemption-model.ts';

const coupons = new Map([
  [1, { limit: 1, isExclusive: false }],
  [2, { limit: 0, isExclusive: false }],
  [3, { limit: 0, isExclusive: true }],
]);
const from = (begunAt: number, answeredAt: number, deed: Deed): Call => ({ ...deed, begunAt, answeredAt });
const redeemed = (
  id: number,
  orderKey: string,
  { couponId = 1, heldUntil = 9_000, userId = 1, state = 'HELD' as const } = {},
): Deed => ({
  ...{ kind: 'redeem', couponId, userId, orderKey },
  answer: { valid: true, id, state, heldUntil },
});
const refused = (orderKey: string, refusal: 'EXCLUSIVE' | 'LIMIT_REACHED' = 'LIMIT_REACHED', couponId = 1): Deed => ({
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
  it.each<[string, Call[]]>([
    [
      'a hold, its confirmation and a refusal',
      [from(0, 1, redeemed(1, 'a')), from(2, 3, confirmed), from(4, 5, refused('b'))],
    ],
    ['two at once of which one is refused', [from(0, 9, refused('a')), from(5, 9, redeemed(1, 'b'))]],
    ['a use that is free again', [from(0, 1, redeemed(1, 'a')), from(2, 6, released), from(3, 5, redeemed(2, 'b'))]],
    [
      'a hold that runs out during the call that takes its use',
      [from(0, 1, redeemed(1, 'a', { heldUntil: 100 })), from(50, 150, redeemed(2, 'b'))],
    ],
    [
      'an order that is redeemed anew, and keeps its redemption',
      [from(0, 1, redeemed(1, 'a', { heldUntil: 100 })), from(2, 3, redeemed(1, 'a')), from(200, 201, refused('b'))],
    ],
    ['a secret code that its user claims twice', [from(0, 5, claimed(1, 8)), from(3, 9, claimed(1, 8))]],
  ])('It explains %s', (_what, history) => {
    expect(findAnomaly(history, coupons)).toBeUndefined();
  });

  it.each<[string, number, Call[]]>([
    ['a limit that two orders exceed at once', 1, [from(0, 9, redeemed(1, 'a')), from(0, 9, redeemed(2, 'b'))]],
    [
      'a limit that is exceeded by a hold that was said to run out',
      1,
      [from(0, 1, redeemed(1, 'a', { heldUntil: 100 })), from(50, 99, redeemed(2, 'b'))],
    ],
    ['a refusal where there is room', 0, [from(0, 1, refused('a'))]],
    [
      'a refusal after the use was given back',
      2,
      [from(0, 1, redeemed(1, 'a')), from(2, 3, released), from(4, 5, refused('b'))],
    ],
    [
      'an exclusive coupon beside another one',
      1,
      [from(0, 9, redeemed(1, 'a')), from(0, 9, redeemed(2, 'a', { couponId: 3 }))],
    ],
    [
      'two redemptions of one order',
      1,
      [from(0, 1, redeemed(1, 'a', { couponId: 2 })), from(2, 3, redeemed(2, 'a', { couponId: 2 }))],
    ],
    [
      "another user's order that is given",
      1,
      [from(0, 1, redeemed(1, 'a', { couponId: 2 })), from(2, 3, redeemed(1, 'a', { couponId: 2, userId: 2 }))],
    ],
    ['a confirmation after a release', 2, [from(0, 1, redeemed(1, 'a')), from(2, 3, released), from(4, 5, confirmed)]],
    ['a redemption that is lost', 1, [from(0, 1, redeemed(1, 'a')), from(2, 3, { kind: 'list', states: new Map() })]],
    [
      'a redemption that is doubled',
      1,
      [
        from(0, 1, redeemed(1, 'a', { couponId: 2 })),
        from(2, 3, {
          kind: 'list',
          states: new Map([
            [1, 'HELD' as const],
            [2, 'HELD' as const],
          ]),
        }),
      ],
    ],
    ['a secret code that two users claim', 1, [from(0, 9, claimed(1, 8)), from(0, 9, claimed(2, 9))]],
    ['a secret code that gives two coupons', 1, [from(0, 9, claimed(1, 8)), from(0, 9, claimed(1, 9))]],
  ])('It finds %s', (_what, explained, history) => {
    expect(findAnomaly(history, coupons)?.explained).toBe(explained);
  });
});
