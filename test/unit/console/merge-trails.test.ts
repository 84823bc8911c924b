import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeTrails } from '../../../services/staff-console/page/audit/trail/merge-trails.ts';

const entry = (ms: number, id = ms) => ({ at: timestampFromMs(ms), id: BigInt(id) });
const trail = (times: readonly number[], hasMore = false) => ({ entries: times.map((ms) => entry(ms)), hasMore });
const merge = (...trails: ReturnType<typeof trail>[]) => {
  const { entries, lagging } = mergeTrails(trails);
  return { ids: entries.map(({ id }) => Number(id)), lagging };
};

describe('mergeTrails', () => {
  it('Trails that are read to their ends are merged, newest first', () => {
    expect(merge(trail([9, 4, 3]), trail([8, 7, 1]))).toEqual({ ids: [9, 8, 7, 4, 3, 1], lagging: undefined });
  });

  it('Entries that are older than an unfinished trail was read are held back, and that trail lags', () => {
    expect(merge(trail([9, 6], true), trail([8, 5, 2]))).toEqual({ ids: [9, 8, 6], lagging: 0 });
  });

  it('Of two unfinished trails, the one that reaches less far back lags', () => {
    expect(merge(trail([9, 2], true), trail([8, 5], true))).toEqual({ ids: [9, 8, 5], lagging: 1 });
  });

  it('A trail of which nothing was read yet holds back all entries', () => {
    expect(merge(trail([9, 2]), trail([], true))).toEqual({ ids: [], lagging: 1 });
  });

  it('A trail that has no entries holds back none', () => {
    expect(merge(trail([9, 2]), trail([]))).toEqual({ ids: [9, 2], lagging: undefined });
  });

  it('Entries of one time come in the order of their ids, latest first', () => {
    const { entries } = mergeTrails([
      { entries: [entry(5, 40), entry(5, 10)], hasMore: false },
      { entries: [entry(5, 30), entry(5, 20)], hasMore: false },
    ]);
    expect(entries.map(({ id }) => Number(id))).toEqual([40, 30, 20, 10]);
  });

  it('Entries that were shown stay where they are, however the pages come', () => {
    const times = fc.uniqueArray(fc.nat(99)).map((all) => all.sort((a, b) => b - a));
    fc.assert(
      fc.property(times, times, fc.integer({ min: 1, max: 5 }), (first, second, pageSize) => {
        const all = [first, second.filter((ms) => !first.includes(ms))];
        const read = [1, 1].map((pages) => pages * pageSize);
        let shown: number[] = [];
        for (;;) {
          const { ids, lagging } = merge(
            ...all.map((each, index) => trail(each.slice(0, read[index]), each.length > (read[index] ?? 0))),
          );
          expect(ids.slice(0, shown.length)).toEqual(shown);
          shown = ids;
          if (lagging === undefined) break;
          read[lagging] = (read[lagging] ?? 0) + pageSize;
        }
        expect(shown).toEqual(all.flat().sort((a, b) => b - a));
      }),
    );
  });
});
