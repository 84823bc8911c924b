/** The middle of the values; of an even number the lower one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** The value that this share of the values is not above. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

/** Prints the median time of each read, after three that warm up. */
export async function printMedianTimes(reads: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  for (const [name, read] of Object.entries(reads)) {
    const took: number[] = [];
    for (let run = -3; run < 25; run += 1) {
      const begin = performance.now();
      await read();
      if (run >= 0) took.push(performance.now() - begin);
    }
    console.log(`${name}: ${median(took).toFixed(2)} ms`);
  }
}
