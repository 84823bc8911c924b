import { afterEach, describe, expect, it } from 'vitest';
import { SequenceCache } from '../../services/slot-service/sequence.ts';

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

  it('keeps what was read, and what was stored', () => {
    const cache = open();
    cache.beginRead()(1, old);
    expect(cache.get(1)).toBe(old);
    cache.beginUpdate(1).keep(changed);
    expect(cache.get(1)).toBe(changed);
  });

  it('ignores the notification of an own update, before its answer and after', () => {
    const cache = open();
    const early = cache.beginUpdate(1);
    cache.hear(1, early.id);
    early.keep(changed);
    const late = cache.beginUpdate(2);
    late.keep(changed);
    cache.hear(2, late.id);
    expect([cache.get(1), cache.get(2)]).toEqual([changed, changed]);
  });

  it('drops a sequence at the notification of an own update that failed, before it and after', () => {
    const cache = open();
    const [early, late] = [cache.beginUpdate(1), cache.beginUpdate(2)];
    cache.beginRead()(1, old);
    cache.hear(1, early.id);
    early.failed();
    late.failed();
    cache.beginRead()(2, old);
    cache.hear(2, late.id);
    expect([cache.get(1), cache.get(2)]).toEqual([undefined, undefined]);
  });

  it('keeps nothing of a read that began before a change that another replica told', () => {
    const cache = open();
    const keep = cache.beginRead();
    cache.hear(2, 'another');
    keep(1, old);
    expect(cache.get(1)).toBeUndefined();
  });

  it('keeps nothing that began while changes could not be heard', () => {
    const cache = open();
    cache.bypass();
    const [keep, update] = [cache.beginRead(), cache.beginUpdate(2)];
    cache.resume();
    keep(1, old);
    update.keep(changed);
    expect([cache.get(1), cache.get(2)]).toEqual([undefined, undefined]);
    cache.beginRead()(1, changed);
    expect(cache.get(1)).toBe(changed);
  });
});
