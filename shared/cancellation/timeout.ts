/** The error of `withTimeout` when the work takes too long. */
export class TimeoutError extends Error {}

/**
 * Settles as `work` does, or rejects with a `TimeoutError` of `message` after `ms` milliseconds. The work is not
 * canceled; its later outcome is ignored.
 */
export async function withTimeout<Result>(work: Promise<Result>, ms: number, message: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(message)), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
