// A check whether a history of calls follows from a model: each call must have taken effect at one moment between its begin
// and its answer (linearizability, as Wing and Gong decide it).

/** When a call began, and when it was answered. Times are epoch milliseconds. */
export interface Span {
  readonly begunAt: number;
  readonly answeredAt: number;
}

/** What calls make of a world. */
export interface Model<World, Call> {
  readonly start: World;
  /**
   * Returns the world after a call at a time; the same one if the call changes nothing, and undefined if the answer does not
   * follow from the world.
   */
  after(world: World, call: Call, at: number): World | undefined;
  /** Whether a call that changes nothing in a world would change nothing in any later one either, if its answer is the same. */
  changesNothingLater(call: Call): boolean;
  /** The times at which a world changes by itself: holds run out. */
  endsIn(world: World): readonly number[];
  /** What JSON shows of a world, different for different worlds. */
  toKey(world: World): unknown;
}

/** Returns the entries of a map in the order of their keys. */
export const inOrder = <Key, Value>(map: ReadonlyMap<Key, Value>): [Key, Value][] =>
  [...map].toSorted(([left], [right]) => (left < right ? -1 : 1));

/** More than this, and a history is too hard to check. */
const maxSteps = 2_000_000;

/**
 * Returns undefined if the history is linearizable. Otherwise returns how many of its calls could be explained one after the
 * other at most, and the first one that could not. A call takes effect as early as its answer allows: later, when a hold has
 * run out, only if it has to.
 */
export function findAnomaly<World, Call extends Span>(
  history: readonly Call[],
  model: Model<World, Call>,
): { readonly explained: number; readonly call: Call } | undefined {
  const calls = history.toSorted((left, right) => left.begunAt - right.begunAt);
  const numbers = new Map(calls.map((call, index) => [call, index]));
  const done = new Set<Call>();
  const seen = new Map<string, number>();
  let steps = 0;
  let best: { readonly explained: number; readonly call: Call } | undefined;

  function explain(world: World, first: number, time: number): boolean {
    let from = first;
    for (let call = calls[from]; call !== undefined && done.has(call); call = calls[from]) from += 1;
    const open: Call[] = [];
    let end = Number.POSITIVE_INFINITY;
    for (const call of calls.slice(from)) {
      if (call.begunAt > end) break;
      if (done.has(call)) continue;
      open.push(call);
      end = Math.min(end, call.answeredAt);
    }
    const [next] = open;
    if (next === undefined) return true;
    if (best === undefined || done.size > best.explained) best = { explained: done.size, call: next };
    const key = JSON.stringify([open.map((call) => numbers.get(call)), model.toKey(world)]);
    if ((seen.get(key) ?? Number.POSITIVE_INFINITY) <= time) return false;
    seen.set(key, time);
    const ends = model.endsIn(world).toSorted((left, right) => left - right);
    /** The world after a call, as early as it can have taken effect. */
    const attempt = (call: Call) => {
      const earliest = Math.max(time, call.begunAt);
      for (const at of [earliest, ...ends.filter((each) => each > earliest)]) {
        if (at > end) break;
        steps += 1;
        if (steps > maxSteps) throw new Error('the history is too hard to check');
        const changed = model.after(world, call, at);
        if (changed !== undefined) return { call, changed, at };
      }
      return undefined;
    };
    const attempts = open.flatMap((call) => attempt(call) ?? []);
    // A call that changes nothing, and before which no hold runs out, may come first, if it makes no other one later: a hold
    // that another one made may have run out then.
    const soonest = Math.min(...open.map((call) => Math.max(time, call.begunAt)));
    const harmless = attempts.find(
      ({ call, changed, at }) =>
        changed === world &&
        at <= soonest &&
        model.changesNothingLater(call) &&
        !ends.some((each) => each > time && each <= at),
    );
    const inTurn = attempts.toSorted((left, right) => left.call.answeredAt - right.call.answeredAt);
    for (const { call, changed, at } of harmless === undefined ? inTurn : [harmless]) {
      done.add(call);
      if (explain(changed, from, at)) return true;
      done.delete(call);
    }
    return false;
  }

  return explain(model.start, 0, 0) ? undefined : best;
}
