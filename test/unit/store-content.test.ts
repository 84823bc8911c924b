import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChanges, type StoredChange, type StoredSlots } from '../../services/slot-service/stores/content.ts';

const none: StoredSlots = { slots: [], byProduct: new Map() };
const now = Date.UTC(2027, 0, 1);
const future = now + 3_600_000;

const change = fc.record<StoredChange>({
  id: fc.integer({ min: 1, max: 12 }),
  // Few, so that many slots are delivered at the same time.
  deliveryMs: fc.integer({ min: 0, max: 3 }).map((hours) => future + hours * 3_600_000),
  freezeMs: fc.constantFrom(future, future, future, 0),
  isOpen: fc.boolean(),
  productIds: fc.uniqueArray(fc.integer({ min: 1, max: 5 })).map((ids) => ids.sort((left, right) => left - right)),
});

const inOrder = (changes: Iterable<StoredChange>) =>
  [...changes].sort((left, right) => left.deliveryMs - right.deliveryMs || left.id - right.id);

describe('Changes of the stores', () => {
  it('Changes applied one version after the other give the same slots as all of them at once', async () => {
    const versions = fc.array(fc.uniqueArray(change, { selector: ({ id }) => id }));
    await fc.assert(
      fc.asyncProperty(versions, async (changesByVersion) => {
        let content = none;
        const newest = new Map<number, StoredChange>();
        for (const changes of changesByVersion) {
          content = await applyChanges(content, inOrder(changes), now);
          for (const one of changes) newest.set(one.id, one);
        }
        const open = inOrder(newest.values()).filter(({ isOpen, freezeMs }) => isOpen && freezeMs === future);
        expect(content.slots).toEqual(open);
        const byProduct = [1, 2, 3, 4, 5].flatMap((productId) => {
          const ofProduct = open.filter(({ productIds }) => productIds.includes(productId));
          return ofProduct.length > 0 ? [[productId, ofProduct] as const] : [];
        });
        expect(content.byProduct).toEqual(new Map(byProduct));
      }),
    );
  });

  it('A version stays as it is when changes are applied to it', async () => {
    const slot = { id: 1, deliveryMs: future, freezeMs: future, isOpen: true, productIds: [1, 2] };
    const before = await applyChanges(none, [slot], now);
    await applyChanges(before, [{ ...slot, isOpen: false }], now);
    expect(before.slots).toEqual([slot]);
    expect([...before.byProduct]).toEqual([
      [1, [slot]],
      [2, [slot]],
    ]);
  });

  it('A slot that has not changed is the same object in the next version', async () => {
    const slot = { id: 1, deliveryMs: future, freezeMs: future, isOpen: true, productIds: [1] };
    const before = await applyChanges(none, [slot], now);
    const after = await applyChanges(before, [{ ...slot, id: 2 }], now);
    expect(after.slots[0]).toBe(before.slots[0]);
  });

  it('A slot whose freeze or delivery time passed before the given time is left out of the next version, and others are kept', async () => {
    const kept = { id: 2, deliveryMs: now + 1, freezeMs: now + 1, isOpen: true, productIds: [2] };
    const frozen = { ...kept, id: 1, freezeMs: now, productIds: [1, 2] };
    const delivered = { ...kept, id: 3, deliveryMs: now, productIds: [1, 2] };
    const before = {
      slots: [delivered, frozen, kept],
      byProduct: new Map([
        [1, [delivered, frozen]],
        [2, [delivered, frozen, kept]],
      ]),
    };
    const after = { slots: [kept], byProduct: new Map([[2, [kept]]]) };
    expect(await applyChanges(before, [], now)).toEqual(after);
    expect(await applyChanges(none, [delivered, frozen, kept], now)).toEqual(after);
  });

  it.each([
    ['100,000 slots of 20 products', 100_000, 20],
    ['10 slots of 100,000 products', 10, 100_000],
  ])('Other work goes on while %s are applied', async (_what, slotCount, productCount) => {
    const slots = Array.from({ length: slotCount }, (_, index): StoredChange => {
      const productIds = Array.from({ length: productCount }, (_, at) => 1 + index + at);
      return { id: index + 1, deliveryMs: future + index, freezeMs: future, isOpen: true, productIds };
    });
    let turns = 0;
    let isOver = false;
    const countTurns = () => {
      turns += 1;
      if (!isOver) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    await applyChanges(none, slots, now);
    isOver = true;
    // A slice has 0.5 ms, and to apply all of them takes longer than 20 ms anywhere.
    expect(turns).toBeGreaterThan(40);
  });
});
