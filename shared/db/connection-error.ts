/**
 * Returns the message of whatever was thrown while a connection was opened. A connection that was refused at
 * several addresses is an AggregateError without a message, so its first error stands for all.
 */
export function connectionErrorMessage(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
