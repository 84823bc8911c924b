import { describe, expect, it } from 'vitest';
import type { StoredSlot } from '../../services/slot-service/stores/content.ts';
import { OpenSlots } from '../../services/slot-service/stores/response-cache.ts';

const slot = (freezeMs: number, products: number, deliveryMs = 5_000): StoredSlot => ({
  id: 1,
  deliveryMs,
  freezeMs,
  productIds: Array(products).fill(1),
});

describe('The open slots of an answer', () => {
  it('Only slots whose freeze time is ahead are open and counted', () => {
    const open = new OpenSlots(1_000);
    const [first, second] = [slot(1_001, 2), slot(3_000, 0)];
    expect(open.among([slot(999, 9), second, slot(1_000, 9)])).toEqual([second]);
    expect(open.among([first, slot(1, 5_000_000)])).toEqual([first]);
    expect([open.size, open.untilMs]).toEqual([4, 1_001]);
  });

  it('A slot closes at its delivery time when that comes before its freeze time', () => {
    const open = new OpenSlots(1_000);
    const [passed, next] = [slot(9_000, 0, 1_000), slot(9_000, 0, 1_001)];
    expect(open.among([passed, next])).toEqual([next]);
    expect(open.untilMs).toBe(1_001);
  });
});
