import { median } from '../bench/median.ts';
import type { RunResult } from './run.ts';

const warmUp = 10_000;
const leastSamples = 6;
const allowed = { rss: 24, heapUsed: 4, external: 4, resources: 40 } as const;
const mebibyte = 1024 * 1024;

/** The medians of a measure in the first and in the last third of the samples after the warm-up. */
export interface Growth {
  readonly service: 'slot' | 'coupon';
  readonly measure: keyof typeof allowed;
  readonly early: number;
  readonly late: number;
  readonly isFault: boolean;
}

/** How the memory of each service changed; empty when the run was too short to tell. */
export function growthOf(memory: RunResult['memory']): Growth[] {
  const samples = memory.filter(({ sent }) => sent >= warmUp);
  if (samples.length < leastSamples) return [];
  const third = Math.floor(samples.length / 3);
  return (['slot', 'coupon'] as const).flatMap((service) =>
    (['rss', 'heapUsed', 'external', 'resources'] as const).map((measure) => {
      const of = (part: typeof samples) => median(part.map((sample) => sample[service][measure]));
      const unit = measure === 'resources' ? 1 : mebibyte;
      const early = of(samples.slice(0, third)) / unit;
      const late = of(samples.slice(-third)) / unit;
      return { service, measure, early, late, isFault: late - early > allowed[measure] };
    }),
  );
}
