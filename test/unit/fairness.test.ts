import { beforeEach, describe, expect, it } from 'vitest';
import { CallSignal } from '../../shared/cancellation/signal.ts';
import { FairQueue } from '../../shared/fairness/fair-queue.ts';
import { FairShare } from '../../shared/fairness/fair-share.ts';

describe('A fair share', () => {
  it('A caller holds at most as much as is still free, and the next one of what is left', () => {
    const share = new FairShare(16);
    expect(share.take('first', 8)).toBe(true);
    expect(share.take('first')).toBe(false);
    expect(share.take('second', 4)).toBe(true);
    expect(share.take('second')).toBe(false);
    expect(share.take('third', 2)).toBe(true);
  });

  it('A caller takes again what it has released', () => {
    const share = new FairShare(2);
    expect(share.take('first')).toBe(true);
    expect(share.take('first')).toBe(false);
    share.release('first');
    expect(share.take('first')).toBe(true);
    expect(share.heldBy('first')).toBe(1);
  });
});

describe('A fair queue', () => {
  let queue: FairQueue;
  let served: string[];
  beforeEach(() => {
    queue = new FairQueue(10);
    served = [];
  });

  function wait(subject: string): void {
    void queue.take({ subject, signal: new CallSignal() }).then(() => served.push(subject));
  }

  /** Lets the waits that were served tell of it. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  function takeAll(subject: string): number {
    let taken = 0;
    while (queue.tryTake(subject)) taken += 1;
    return taken;
  }

  it('One caller alone takes two thirds of the places, and the next one finds the rest', () => {
    expect(takeAll('first')).toBe(7);
    expect(queue.tryTake('second')).toBe(true);
    expect(queue.taken).toBe(8);
  });

  it('A place goes to the callers in turn, whoever came first', async () => {
    for (const holder of ['a', 'b', 'c', 'd']) takeAll(holder);
    expect(queue.taken).toBe(10);
    for (const caller of ['busy', 'busy', 'busy', 'calm']) wait(caller);
    queue.release('a');
    queue.release('a');
    await settled();
    expect(served).toEqual(['busy', 'calm']);
  });

  it('A caller with its share waits, although places are free, and its calls are served in their order', async () => {
    takeAll('first');
    wait('first');
    await settled();
    expect(served).toEqual([]);
    expect(queue.tryTake('first')).toBe(false);
    queue.release('first');
    await settled();
    expect(served).toEqual(['first']);
    expect(queue.tryTake('first')).toBe(false);
  });

  it('A wait ends with the reason of its signal, and takes no place', async () => {
    takeAll('first');
    const signal = new CallSignal();
    const waiting = queue.take({ subject: 'first', signal });
    signal.abort(() => new Error('canceled'));
    await expect(waiting).rejects.toThrow('canceled');
    expect(queue.waiting).toBe(0);
    queue.release('first');
    expect(queue.taken).toBe(6);
  });

  it('A wait without a place ends after the time that its caller gives it', async () => {
    takeAll('first');
    expect(await queue.take({ subject: 'first', signal: new CallSignal(), maxWaitMs: 1 })).toBe(false);
    expect(queue.waiting).toBe(0);
  });

  it('A caller with its share of the waiters gets an answer at once, and another one may wait', async () => {
    queue = new FairQueue(1, 4);
    takeAll('holder');
    wait('busy');
    wait('busy');
    expect(await queue.take({ subject: 'busy', signal: new CallSignal() })).toBe(false);
    wait('calm');
    expect(queue.waiting).toBe(3);
  });
});
