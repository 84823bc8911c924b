import { describe, expect, it } from 'vitest';
import { UnorderedList } from '../../shared/rpc/limits/open-requests.ts';

function listOf(count: number) {
  const list = new UnorderedList<{ index: number }>();
  const items = Array.from({ length: count }, () => ({ index: -1 }));
  for (const item of items) list.add(item);
  return { list, items };
}

describe('A list without an order', () => {
  it.each([0, 1, 2])('It keeps the other items when item %i of three leaves', (at) => {
    const { list, items } = listOf(3);
    const [leaving] = items.splice(at, 1);
    if (leaving !== undefined) list.delete(leaving);
    expect(new Set(list.items)).toEqual(new Set(items));
    expect(items.every((item) => list.has(item))).toBe(true);
    expect(leaving !== undefined && list.has(leaving)).toBe(false);
  });

  it('An item that was never in it, and one that has left it, take no other one with them', () => {
    const { list, items } = listOf(2);
    list.delete({ index: -1 });
    list.delete({ index: 0 });
    const [first] = items;
    if (first !== undefined) {
      list.delete(first);
      list.delete(first);
    }
    expect(list.items).toEqual(items.slice(1));
  });
});
