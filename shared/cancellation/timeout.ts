/** The error of `withTimeout` if the work takes too long. */
export class TimeoutError extends Error {}

/**
 * Resolves or rejects as `work` does, or rejects with a `TimeoutError` of `message` after `ms`. The work is not canceled
 * then; its later outcome is ignored.
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
