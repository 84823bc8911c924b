/** What `withTimeout` rejects with when the work takes too long. */
export class TimeoutError extends Error {}

/**
 * What `work` resolves or rejects with; rejects with a `Late` of `message` when that takes longer than
 * `ms`. The work itself goes on then, and how it ends is nobody's.
 */
export async function withTimeout<Result>(work: Promise<Result>, ms: number, message: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(message)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
