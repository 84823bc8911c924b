import { getEventListeners } from 'node:events';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { CallSignal } from '../../shared/cancellation/signal.ts';
import { inSlices, type Sliced } from '../../shared/rpc/answers/slices.ts';

/** An encoding of so many slices, which tells when each one runs. */
const encodingOf = (slices: number, run: (slice: number) => void) =>
  function* (): Sliced<string> {
    for (let slice = 1; slice < slices; slice += 1) {
      run(slice);
      yield;
    }
    run(slices);
    return 'encoded';
  };

describe('Encoding in slices', () => {
  it('One slice of all long answers runs in an iteration of the event loop', async () => {
    let isOver = false;
    let run = 0;
    const perIteration: number[] = [];
    const iterations = (async () => {
      while (!isOver) {
        await nextIteration();
        perIteration.push(run);
        run = 0;
      }
    })();
    const encode = encodingOf(5, () => {
      run += 1;
    });
    await Promise.all(Array.from({ length: 20 }, (_, caller) => inSlices({ subject: `${caller}` }, encode)));
    isOver = true;
    await iterations;
    // The first slice of each runs at once.
    const [first = 0, ...others] = perIteration;
    expect(first).toBeGreaterThanOrEqual(20);
    expect(Math.max(...others)).toBe(1);
    expect(perIteration.reduce((sum, count) => sum + count)).toBe(100);
  });

  it('A short answer of one caller comes between the slices of the long ones of another', async () => {
    const order: string[] = [];
    const encode = (caller: string, slices: number) =>
      inSlices(
        { subject: caller },
        encodingOf(slices, () => order.push(caller)),
      );
    const long = Array.from({ length: 100 }, () => encode('greedy', 10));
    const short = encode('modest', 3);
    await Promise.all([short, ...long]);
    // After the first slices, which run at once, the two take turns.
    expect(order.slice(100).lastIndexOf('modest')).toBeLessThanOrEqual(4);
    expect(order).toHaveLength(1_003);
  });

  it('The long answers of one caller are encoded one after the other', async () => {
    const order: string[] = [];
    const encode = (name: string) => encodingOf(4, (slice) => order.push(`${name} ${slice}`));
    const answers = ['first', 'second', 'third'].map((name) => inSlices({ subject: 'one' }, encode(name)));
    await Promise.all(answers);
    expect(order).toEqual([
      ...['first 1', 'second 1', 'third 1', 'first 2', 'first 3', 'first 4', 'second 2', 'second 3', 'second 4'],
      ...['third 2', 'third 3', 'third 4'],
    ]);
  });

  it.each(['in line behind another one', 'between its slices'])(
    'A long answer that nobody waits for any more ends at once %s, and the line goes on',
    async (place) => {
      let isOver = false;
      const endless = function* (): Sliced<string> {
        while (!isOver) yield;
        return 'encoded';
      };
      const before = place === 'between its slices' ? undefined : inSlices({ subject: 'one' }, endless);
      const signal = new CallSignal();
      const ended = inSlices({ subject: 'one', signal }, endless);
      const after = inSlices(
        { subject: 'one' },
        encodingOf(2, () => undefined),
      );
      await nextIteration();
      signal.abort(() => new Error('the deadline has passed'));
      await expect(ended).rejects.toThrow('the deadline has passed');
      isOver = before !== undefined;
      expect(await Promise.all([before, after])).toEqual([before && 'encoded', 'encoded']);
    },
  );

  it('An answer that has ended leaves no listener at its signal', async () => {
    const { signal } = new AbortController();
    const answer = inSlices(
      { signal },
      encodingOf(3, () => undefined),
    );
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await answer;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('An answer of one slice is encoded at once', async () => {
    const order: string[] = [];
    const iteration = nextIteration().then(() => order.push('iteration'));
    await inSlices(
      undefined,
      encodingOf(1, () => order.push('slice')),
    );
    order.push('encoded');
    await iteration;
    expect(order).toEqual(['slice', 'encoded', 'iteration']);
  });

  it('A failure of an encoding fails its answer, and the others go on', async () => {
    const failing = inSlices(undefined, function* (): Sliced<string> {
      yield;
      throw new Error('broken');
    });
    const other = inSlices(
      undefined,
      encodingOf(3, () => undefined),
    );
    await expect(failing).rejects.toThrow('broken');
    expect(await other).toBe('encoded');
  });

  it('An answer of more than 64 MiB is given up as soon as so much is written', async () => {
    let slices = 0;
    const endless = inSlices(undefined, function* (slice): Sliced<string> {
      for (;;) {
        slice.isOverAfterWriting(1024 * 1024);
        slices += 1;
        yield;
      }
    });
    await expect(endless).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect(slices).toBe(64);
    const largest = inSlices(undefined, function* (slice): Sliced<string> {
      slice.isOverAfterWriting(64 * 1024 * 1024);
      yield;
      return 'encoded';
    });
    expect(await largest).toBe('encoded');
  });
});
