import { fromBinary, type JsonValue, toJson } from '@bufbuild/protobuf';
import { afterEach, describe, expect, it } from 'vitest';
import { type Sequence, SequenceCache } from '../../services/slot-service/slots/sequence-cache.ts';
import { GetDeliverySequenceResponseSchema } from '../../shared/gen/slot/v1/slot_service_pb.ts';

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
  const open = (maxBytes?: number) => {
    const cache = new SequenceCache(maxBytes);
    caches.push(cache);
    return cache;
  };
  const [old, changed] = [{ 1: [1] }, { 1: [2] }];
  const nothing = null;
  /** What the database has of a slot. */
  const slotWith = (deliverySequence: JsonValue): Sequence => ({ deliverySequence, etag: '7' });
  /** Reads a slot's sequence, of which the database has `stored`. */
  const read = async (cache: SequenceCache, slotId: number, stored: JsonValue) => {
    const { deliverySequence } = JSON.parse(
      String(await (await cache.read(slotId, async () => slotWith(stored))).toJson(undefined)),
    );
    return deliverySequence;
  };
  /** What the cache keeps of a slot; null, which is not kept, when it keeps nothing. */
  const keptBy = (cache: SequenceCache, slotId: number) => read(cache, slotId, nothing);
  const notify = (cache: SequenceCache, slotId: number, updateId: string) =>
    cache.onNotification(JSON.stringify({ slotId, updateId }));
  /** An update that is under way until it is told how it ends. */
  const beginRewrite = (cache: SequenceCache, slotId: number) => {
    const { promise: stored, resolve, reject } = withResolvers<Sequence>();
    let id = '';
    const rewritten = cache.rewrite(slotId, { afterWrite: async (then) => then(true) }, (updateId) => {
      id = updateId;
      return stored;
    });
    return {
      id,
      async succeed() {
        resolve(slotWith(changed));
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
    const { promise, resolve } = withResolvers<Sequence>();
    const read = cache.read(slotId, () => promise);
    return async () => {
      resolve(slotWith(old));
      await read;
    };
  };

  it('The cache keeps a map that was read, and one that was stored', async () => {
    const cache = open();
    expect(await read(cache, 1, old)).toEqual(old);
    expect(await keptBy(cache, 1)).toEqual(old);
    await beginRewrite(cache, 1).succeed();
    expect(await keptBy(cache, 1)).toEqual(changed);
  });

  it('The cache keeps a map of half a million orders, which takes too long to read for each call', async () => {
    const cache = open();
    const orders = Array.from({ length: 2_000 }, (_, n) => 100_000 + n);
    await cache.read(1, async () =>
      slotWith(Object.fromEntries(Array.from({ length: 250 }, (_, user) => [user, orders]))),
    );
    expect(await keptBy(cache, 1)).not.toEqual(nothing);
  });

  it('The cache keeps nothing that is no map of integers', async () => {
    const cache = open();
    await cache.read(1, async () => slotWith([1, 2]));
    expect(await keptBy(cache, 1)).toEqual(nothing);
  });

  it('The cache ignores the notification of an own update, before its answer and after', async () => {
    const cache = open();
    const early = beginRewrite(cache, 1);
    notify(cache, 1, early.id);
    await early.succeed();
    const late = beginRewrite(cache, 2);
    await late.succeed();
    notify(cache, 2, late.id);
    expect(await keptBy(cache, 1)).toEqual(changed);
    expect(await keptBy(cache, 2)).toEqual(changed);
  });

  it('The cache drops a sequence at the notification of an own update that failed, before it and after', async () => {
    const cache = open();
    const [early, late] = [beginRewrite(cache, 1), beginRewrite(cache, 2)];
    await cache.read(1, async () => slotWith(old));
    notify(cache, 1, early.id);
    await early.fail();
    await late.fail();
    await cache.read(2, async () => slotWith(old));
    notify(cache, 2, late.id);
    expect(await keptBy(cache, 1)).toEqual(nothing);
    expect(await keptBy(cache, 2)).toEqual(nothing);
  });

  it('The cache keeps nothing of a read that began before a change by another replica', async () => {
    const cache = open();
    const endRead = beginRead(cache, 1);
    notify(cache, 2, 'of another');
    await endRead();
    expect(await keptBy(cache, 1)).toEqual(nothing);
  });

  it('The cache keeps nothing that began while notifications were lost', async () => {
    const cache = open();
    cache.bypass();
    const endRead = beginRead(cache, 1);
    const update = beginRewrite(cache, 2);
    cache.resume();
    await endRead();
    await update.succeed();
    expect(await read(cache, 1, changed)).toEqual(changed);
    expect(await keptBy(cache, 1)).toEqual(changed);
    expect(await keptBy(cache, 2)).toEqual(nothing);
  });

  describe('With room for 21,000 bytes', () => {
    const stops = (count: number) => ({ 1: Array.from({ length: count }, () => 7) });
    const isKept = async (cache: SequenceCache, slotId: number) => (await keptBy(cache, slotId)) !== nothing;

    it('The oldest sequences go when the room is taken', async () => {
      const cache = open(21_000);
      // Each takes some 2,200 bytes.
      for (let id = 1; id <= 12; id += 1) await read(cache, id, stops(120));
      const kept = await Promise.all(Array.from({ length: 12 }, (_, index) => isKept(cache, index + 1)));
      expect(kept).toEqual([false, false, false, ...Array(9).fill(true)]);
    });

    it('A sequence that takes more than a fourth of the room is given, but not kept', async () => {
      const cache = open(21_000);
      await read(cache, 1, stops(120));
      expect(await read(cache, 2, stops(400))).toEqual(stops(400));
      expect([await isKept(cache, 1), await isKept(cache, 2)]).toEqual([true, false]);
    });

    it('A kept sequence has the same value in both forms', async () => {
      const cache = open(21_000);
      const response = await cache.read(1, async () => slotWith(stops(120)));
      const message = fromBinary(GetDeliverySequenceResponseSchema, await response.toBinary(undefined));
      const json = { deliverySequence: stops(120), etag: '7' };
      expect(toJson(GetDeliverySequenceResponseSchema, message)).toEqual(json);
      expect(JSON.parse(String(await response.toJson(undefined)))).toEqual(json);
    });

    it('What was dropped, replaced or forgotten takes no room any more', async () => {
      const cache = open(21_000);
      for (let id = 1; id <= 9; id += 1) await read(cache, id, stops(120));
      for (let round = 0; round < 20; round += 1) await beginRewrite(cache, 1).succeed();
      notify(cache, 9, 'of another');
      await read(cache, 10, stops(120));
      expect(await isKept(cache, 2)).toBe(true);
      cache.bypass();
      cache.resume();
      for (let id = 1; id <= 9; id += 1) await read(cache, id, stops(120));
      expect(await isKept(cache, 1)).toBe(true);
    });
  });
});
