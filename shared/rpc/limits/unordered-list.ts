/** An item that knows its place in an `UnorderedList`. It can be in one list at a time. */
interface Placed {
  index: number;
}

/**
 * A list without an order, which each call enters and leaves. A Set is rehashed all the time then, and V8 keeps its
 * earlier tables, with the calls in them, until the next full garbage collection (docs/performance.md has the figures).
 */
export class UnorderedList<Item extends Placed> {
  readonly items: Item[] = [];

  has(item: Item): boolean {
    return this.items[item.index] === item;
  }

  add(item: Item): void {
    item.index = this.items.length;
    this.items.push(item);
  }

  delete(item: Item): void {
    if (!this.has(item)) return;
    const last = this.items.pop();
    if (last === undefined || last === item) return;
    this.items[item.index] = last;
    last.index = item.index;
  }
}
