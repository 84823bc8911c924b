import { describe, expect, it } from 'vitest';
import { merge } from '../../../services/staff-console/page/rpc/merge.ts';

describe('Two versions of a draft', () => {
  const base = { delivery: '10:00', close: '06:00', products: [{ id: 1 }, { id: 2 }] };

  it('A field that only one of them has changed gets that change', () => {
    const merged = merge(base, { ...base, delivery: '11:00' }, { ...base, close: '07:00' });
    expect(merged).toEqual({ draft: { ...base, delivery: '11:00', close: '07:00' }, contradictions: [] });
  });

  it('A field that both have changed alike is no contradiction', () => {
    const both = { ...base, delivery: '11:00' };
    expect(merge(base, both, { ...both })).toEqual({ draft: both, contradictions: [] });
  });

  it('A field that they have changed differently is a contradiction, and keeps the own value', () => {
    const merged = merge(base, { ...base, delivery: '11:00' }, { ...base, delivery: '12:00', close: '07:00' });
    expect(merged).toEqual({ draft: { ...base, delivery: '11:00', close: '07:00' }, contradictions: ['delivery'] });
  });

  it('Additions to a list and removals from it are merged, whoever made them', () => {
    const mine = { ...base, products: [{ id: 2 }, { id: 3 }] };
    const theirs = { ...base, products: [{ id: 1 }, { id: 2 }, { id: 4 }] };
    expect(merge(base, mine, theirs)).toEqual({
      draft: { ...base, products: [{ id: 2 }, { id: 4 }, { id: 3 }] },
      contradictions: [],
    });
  });

  it('A member that both have added stands once', () => {
    const mine = { ...base, products: [...base.products, { id: 3 }] };
    const theirs = { ...base, products: [...base.products, { id: 3 }, { id: 4 }] };
    expect(merge(base, mine, theirs).draft.products.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });

  it('The sequences of different users do not contradict, and those of one user do', () => {
    const stored: Readonly<Record<string, readonly number[]>> = { 7: [1, 2], 8: [3] };
    expect(merge(stored, { ...stored, 7: [2, 1] }, { ...stored, 8: [4] })).toEqual({
      draft: { 7: [2, 1], 8: [4] },
      contradictions: [],
    });
    expect(merge(stored, { ...stored, 7: [2, 1] }, { ...stored, 7: [1] }).contradictions).toEqual(['7']);
  });

  it('A user that one of them has removed is gone, and the change of the other one stays', () => {
    const stored: Readonly<Record<string, readonly number[]>> = { 7: [1, 2], 8: [3] };
    expect(merge(stored, { 8: [3] }, { ...stored, 8: [4] })).toStrictEqual({ draft: { 8: [4] }, contradictions: [] });
  });
});
