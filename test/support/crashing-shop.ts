/**
 * An order service's own parts, which keep an order and whether it is charged, and the steps of its program. The program
 * crashes before a step, or before it learns of its end.
 */
export function crashingShop<Order extends { readonly key: string }>(first: Order, isDeclined: boolean) {
  let saved = first;
  const charged = new Set<string>();
  let halfStepsLeft = Number.POSITIVE_INFINITY;
  const takeHalf = (where: string) => {
    halfStepsLeft -= 1;
    if (halfStepsLeft < 0) throw new Error(`crashed ${where} a step`);
  };
  async function step<Result>(work: () => Promise<Result>): Promise<Result> {
    takeHalf('before');
    return work().finally(() => takeHalf('after'));
  }
  return {
    step,
    saved: () => saved,
    isCharged: () => charged.has(saved.key),
    /** Changes the saved order. The next run crashes after so many half steps. */
    prepare(halfSteps: number, changed: Partial<Order> = {}): void {
      halfStepsLeft = halfSteps;
      saved = { ...saved, ...changed };
    },
    shop: {
      save: (order: Order) =>
        step(async () => {
          saved = order;
        }),
      charge: (order: Order) =>
        step(async () => {
          if (!isDeclined) charged.add(order.key);
          return isDeclined ? ('declined' as const) : ('paid' as const);
        }),
      refund: (order: Order) => step(async () => void charged.delete(order.key)),
    },
  };
}
