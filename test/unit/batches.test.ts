import { setImmediate as nextIteration } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { type Encoding, encodeInBatches, TextWriter } from '../../shared/rpc/protobuf/batches.ts';
import { FieldWriter } from '../../shared/rpc/protobuf/field-writer.ts';

/** An encoding of so many batches, which tells when each one runs. */
const encodingOf = (batches: number, run: (batch: number) => void) =>
  function* (): Encoding<string> {
    for (let batch = 1; batch < batches; batch += 1) {
      run(batch);
      yield 0;
    }
    run(batches);
    return 'encoded';
  };

describe('Encoding in batches', () => {
  it('One batch of all long answers runs in an iteration of the event loop', async () => {
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
    await Promise.all(Array.from({ length: 20 }, (_, caller) => encodeInBatches({ subject: `${caller}` }, encode)));
    isOver = true;
    await iterations;
    // The first batch of each runs at once.
    const [first = 0, ...others] = perIteration;
    expect(first).toBeGreaterThanOrEqual(20);
    expect(Math.max(...others)).toBe(1);
    expect(perIteration.reduce((sum, count) => sum + count)).toBe(100);
  });

  it('A short answer of one caller comes between the batches of the long ones of another', async () => {
    const order: string[] = [];
    const long = Array.from({ length: 100 }, () =>
      encodeInBatches(
        { subject: 'greedy' },
        encodingOf(10, () => order.push('greedy')),
      ),
    );
    const short = encodeInBatches(
      { subject: 'modest' },
      encodingOf(3, () => order.push('modest')),
    );
    await Promise.all([short, ...long]);
    // After the first batches, which run at once, the two take turns.
    expect(order.slice(100).lastIndexOf('modest')).toBeLessThanOrEqual(4);
    expect(order).toHaveLength(1_003);
  });

  it('The long answers of one caller are encoded one after the other', async () => {
    const order: string[] = [];
    const answers = ['first', 'second', 'third'].map((name) =>
      encodeInBatches(
        { subject: 'one' },
        encodingOf(4, (batch) => order.push(`${name} ${batch}`)),
      ),
    );
    await Promise.all(answers);
    expect(order).toEqual([
      ...['first 1', 'second 1', 'third 1'],
      ...['first 2', 'first 3', 'first 4'],
      ...['second 2', 'second 3', 'second 4'],
      ...['third 2', 'third 3', 'third 4'],
    ]);
  });

  it('An answer of one batch is encoded at once', async () => {
    const order: string[] = [];
    const iteration = nextIteration().then(() => order.push('iteration'));
    await encodeInBatches(
      {},
      encodingOf(1, () => order.push('batch')),
    );
    order.push('encoded');
    await iteration;
    expect(order).toEqual(['batch', 'encoded', 'iteration']);
  });

  it('A failure of an encoding fails its answer, and the others go on', async () => {
    const failing = encodeInBatches({}, function* (): Encoding<string> {
      yield 0;
      throw new Error('broken');
    });
    const other = encodeInBatches(
      {},
      encodingOf(3, () => undefined),
    );
    await expect(failing).rejects.toThrow('broken');
    expect(await other).toBe('encoded');
  });

  it('An answer of more than 64 MiB is given up as soon as so much is written', async () => {
    let batches = 0;
    const endless = encodeInBatches({}, function* (): Encoding<string> {
      for (;;) {
        batches += 1;
        yield 1024 * 1024;
      }
    });
    await expect(endless).rejects.toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: 'The answer is too large - please ask for less',
    });
    expect(batches).toBe(65);
    const large = Buffer.alloc(64 * 1024 * 1024);
    expect(
      await encodeInBatches({}, function* () {
        yield 0;
        return large;
      }),
    ).toBe(large);
    await expect(
      encodeInBatches({}, function* () {
        yield 0;
        return Buffer.alloc(large.length + 1);
      }),
    ).rejects.toThrow('too large');
  });
});

describe('A message that is written in batches', () => {
  it('A batch that ends inside of a message leaves it as it is', () => {
    const [whole, inBatches] = [new FieldWriter(), new FieldWriter()];
    const fields = Buffer.from([8, 1]);
    whole.int32(1, 5).open(2).raw(fields).open(4).raw(fields).close().close().int32(6, 1);
    inBatches.int32(1, 5);
    expect(inBatches.flush()).toBe(2);
    inBatches.open(2).raw(fields).open(4).raw(fields);
    expect(inBatches.flush()).toBe(0);
    inBatches.close().close();
    expect(inBatches.flush()).toBeGreaterThan(0);
    expect(inBatches.int32(6, 1).finish()).toEqual(whole.finish());
  });

  it('A text in batches is the same as in one', () => {
    const writer = new TextWriter().write('a').write('b');
    expect(writer.flush()).toBe(2);
    expect(writer.write('c').finish()).toBe('abc');
    expect(new TextWriter().write('abc').finish()).toBe('abc');
  });
});
