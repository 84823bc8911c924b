import { numbers } from './calls-requests.ts';
import { median, quantile } from './median.ts';

/** Calls that are made in turns with others, by 64 callers or as many as it says. */
export interface Side {
  call(round: number, caller: number): Promise<void>;
  readonly callers?: number;
  /** What another caller asks meanwhile, one call after the other. */
  beside?(): Promise<unknown>;
}

const rounds = 15;
const callsPerRound = 1_280;

/**
 * Makes the calls of each side in turns, and prints how many a second it makes: the median of its rounds.
 *
 * @returns the ratio of the calls a second of one side to those of another, the median of the rounds; and what calls beside a side
 * took, the 95th percentile in milliseconds.
 */
export async function runRounds(sides: Readonly<Record<string, Side>>) {
  const rates = new Map(Object.keys(sides).map((name) => [name, [] as number[]]));
  const waits = new Map(Object.keys(sides).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, { call, callers = 64, beside }] of Object.entries(sides)) {
      const calls = callers === 1 ? 200 : callsPerRound;
      let left = calls;
      const callOn = async (caller: number) => {
        for (; left > 0; left -= 1) await call(round, caller);
      };
      const askOn = async () => {
        while (beside !== undefined && left > 0) {
          const asked = performance.now();
          await beside();
          if (round > 0) waits.get(name)?.push(performance.now() - asked);
        }
      };
      const begin = performance.now();
      const asking = askOn();
      await Promise.all(numbers(callers).map((_n, caller) => callOn(caller)));
      // The first round warms up.
      if (round > 0) rates.get(name)?.push((calls / (performance.now() - begin)) * 1_000);
      await asking;
    }
  }
  for (const [name, of] of rates) console.log(`${name}: ${median(of).toFixed(0)} a second`);
  const ratesOf = (name: string) => rates.get(name) ?? [];
  return {
    ratio: (left: string, right: string) =>
      median(ratesOf(left).map((rate, round) => rate / (ratesOf(right)[round] ?? Number.NaN))).toFixed(2),
    besideP95: (name: string) => quantile(waits.get(name) ?? [], 0.95).toFixed(1),
  };
}
