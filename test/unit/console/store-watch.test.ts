import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { type StoreVersion, StoreWatch } from '../../../services/staff-console/page/live/store-watch.ts';

/** A stream that a watch has opened: the test says what comes, and how it ends. */
class Stream {
  readonly after: number | undefined;
  readonly signal: AbortSignal;
  readonly #steps: (() => StoreVersion | undefined)[] = [];
  #wake = () => {};

  constructor(after: number | undefined, signal: AbortSignal) {
    this.after = after;
    this.signal = signal;
    signal.addEventListener('abort', () => this.fail(new ConnectError('aborted', Code.Canceled)));
  }

  send(version: number): void {
    this.#add(() => ({ version }));
  }

  end(): void {
    this.#add(() => undefined);
  }

  fail(error: Error): void {
    this.#add(() => {
      throw error;
    });
  }

  #add(step: () => StoreVersion | undefined): void {
    this.#steps.push(step);
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StoreVersion> {
    for (;;) {
      const step = this.#steps.shift();
      if (step === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const version = step();
      if (version === undefined) return;
      yield version;
    }
  }
}

/** A watch, the streams that it has opened, and the pauses that it has made, which end at once. */
function open() {
  const streams: Stream[] = [];
  const pauses: number[] = [];
  let mayWatch = true;
  let tell: (() => void) | undefined;
  const watch = new StoreWatch({
    open(after, signal) {
      const stream = new Stream(after, signal);
      streams.push(stream);
      return stream;
    },
    mayWatch: () => mayWatch,
    followChanges(listener) {
      tell = listener;
      return () => {
        tell = undefined;
      };
    },
    async pause(ms) {
      pauses.push(ms);
    },
  });
  return {
    ...{ watch, streams, pauses },
    isFollowing: () => tell !== undefined,
    allow(may: boolean) {
      mayWatch = may;
      tell?.();
    },
    /** The stream that is opened n-th. */
    stream: (n: number) =>
      expect
        .poll(() => streams[n])
        .toBeDefined()
        .then(() => streams[n] ?? expect.fail()),
    until: (connection: string, version?: number) =>
      expect.poll(() => [watch.read().connection, watch.read().latest?.version]).toEqual([connection, version]),
  };
}

const nobody = () => {};

describe('A watch of the stores', () => {
  it('Any number of listeners share one stream, which is closed when the last one leaves', async () => {
    const { watch, streams, stream, until, isFollowing } = open();
    const leave = [watch.subscribe(() => {}), watch.subscribe(() => {})];
    (await stream(0)).send(4);
    await until('live', 4);
    leave[0]?.();
    expect(streams[0]?.signal.aborted).toBe(false);
    leave[1]?.();
    expect(streams[0]?.signal.aborted).toBe(true);
    expect([watch.read().connection, isFollowing(), streams.length]).toEqual(['paused', false, 1]);
  });

  it('Each version is told to every listener', async () => {
    const { watch, stream } = open();
    const seen: (number | undefined)[] = [];
    watch.subscribe(nobody);
    watch.subscribe(() => seen.push(watch.read().latest?.version));
    const first = await stream(0);
    for (const version of [4, 5, 9]) first.send(version);
    await expect.poll(() => seen.slice(-3)).toEqual([4, 5, 9]);
  });

  it('The stream is closed while it may not be open, and resumes where it was', async () => {
    const { watch, streams, stream, until, allow } = open();
    watch.subscribe(nobody);
    (await stream(0)).send(4);
    await until('live', 4);
    allow(false);
    expect(streams[0]?.signal.aborted).toBe(true);
    await until('paused', 4);
    allow(true);
    const resumed = await stream(1);
    // The service answers with version 4 at once, or with a later one.
    expect(resumed.after).toBe(3);
    await until('connecting', 4);
    resumed.send(6);
    await until('live', 6);
  });

  it('No stream is opened while none may be', () => {
    const { watch, streams, allow } = open();
    allow(false);
    watch.subscribe(nobody);
    expect([streams.length, watch.read().connection]).toEqual([0, 'paused']);
  });

  it('A stream that breaks is opened again after a pause that grows to 30 s, and is short again after a success', async () => {
    const { watch, pauses, stream, until } = open();
    watch.subscribe(nobody);
    for (let n = 0; n < 7; n += 1) (await stream(n)).fail(new ConnectError('away', Code.Unavailable));
    const found = await stream(7);
    expect(watch.read().connection).toBe('lost');
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    found.send(1);
    await until('live', 1);
    found.end();
    await stream(8);
    expect(pauses.at(-1)).toBe(1_000);
  });

  it('A stream that has had its time is opened again at once', async () => {
    const { watch, pauses, stream, until } = open();
    watch.subscribe(nobody);
    const first = await stream(0);
    first.send(4);
    await until('live', 4);
    first.fail(new ConnectError('its time is over', Code.DeadlineExceeded));
    await stream(1);
    expect([watch.read().connection, pauses]).toEqual(['live', []]);
  });

  it('A stream that times out before anything came is one that has failed', async () => {
    const { watch, pauses, stream } = open();
    watch.subscribe(nobody);
    (await stream(0)).fail(new ConnectError('nothing came', Code.DeadlineExceeded));
    await stream(1);
    expect(pauses).toEqual([1_000]);
  });
});
