import { afterEach, describe, expect, it } from 'vitest';
import { SequenceCache } from '../../services/slot-service/slots/sequence-cache.ts';

/** A promise that is settled from outside. */
function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

describe('The cache of delivery sequences', () => {
  const caches: SequenceCache[] = [];
  afterEach(() => {
    for (const cache of caches.splice(0)) cache.close();
  });
  const open = () => {
    const cache = new SequenceCache();
    caches.push(cache);
    return cache;
  };
  const [old, changed] = [{ 1: [1] }, { 1: [2] }];
  const nothing = {};
  /** What the cache keeps of a slot; an empty object when it keeps nothing. */
  const keptBy = (cache: SequenceCache, slotId: number) => cache.read(slotId, async () => nothing);
  const notify = (cache: SequenceCache, slotId: number, updateId: string) =>
    cache.onNotification(JSON.stringify({ slotId, updateId }));
  /** An update that is under way until it is told how it ends. */
  const beginRewrite = (cache: SequenceCache, slotId: number) => {
    const { promise: stored, resolve, reject } = withResolvers<{ deliverySequence: typeof changed }>();
    let id = '';
    const rewritten = cache.rewrite(slotId, (updateId) => {
      id = updateId;
      return stored;
    });
    return {
      id,
      async succeed() {
        resolve({ deliverySequence: changed });
        await rewritten;
      },
      async fail() {
        reject(new Error('lost'));
        await expect(rewritten).rejects.toThrow('lost');
      },
    };
  };
  /** A read of the database that is under way until it is told to end. */
  const beginRead = (cache: SequenceCache, slotId: number) => {
    const { promise, resolve } = withResolvers<typeof old>();
    const read = cache.read(slotId, () => promise);
    return async () => {
      resolve(old);
      await read;
    };
  };

  it('The cache keeps a map that was read, and one that was stored', async () => {
    const cache = open();
    expect(await cache.read(1, async () => old)).toBe(old);
    expect(await keptBy(cache, 1)).toBe(old);
    await beginRewrite(cache, 1).succeed();
    expect(await keptBy(cache, 1)).toBe(changed);
  });

  it('The cache keeps nothing that is no map of integers', async () => {
    const cache = open();
    await cache.read(1, async () => [1, 2]);
    expect(await keptBy(cache, 1)).toBe(nothing);
  });

  it('The cache ignores the notification of an own update, before its answer and after', async () => {
    const cache = open();
    const early = beginRewrite(cache, 1);
    notify(cache, 1, early.id);
    await early.succeed();
    const late = beginRewrite(cache, 2);
    await late.succeed();
    notify(cache, 2, late.id);
    expect(await keptBy(cache, 1)).toBe(changed);
    expect(await keptBy(cache, 2)).toBe(changed);
  });

  it('The cache drops a sequence at the notification of an own update that failed, before it and after', async () => {
    const cache = open();
    const [early, late] = [beginRewrite(cache, 1), beginRewrite(cache, 2)];
    await cache.read(1, async () => old);
    notify(cache, 1, early.id);
    await early.fail();
    await late.fail();
    await cache.read(2, async () => old);
    notify(cache, 2, late.id);
    expect(await keptBy(cache, 1)).toBe(nothing);
    expect(await keptBy(cache, 2)).toBe(nothing);
  });

  it('The cache keeps nothing of a read that began before a change by another replica', async () => {
    const cache = open();
    const endRead = beginRead(cache, 1);
    notify(cache, 2, 'of another');
    await endRead();
    expect(await keptBy(cache, 1)).toBe(nothing);
  });

  it('The cache keeps nothing that began while notifications were lost', async () => {
    const cache = open();
    cache.bypass();
    const endRead = beginRead(cache, 1);
    const update = beginRewrite(cache, 2);
    cache.resume();
    await endRead();
    await update.succeed();
    expect(await cache.read(1, async () => changed)).toBe(changed);
    expect(await keptBy(cache, 1)).toBe(changed);
    expect(await keptBy(cache, 2)).toBe(nothing);
  });
});
