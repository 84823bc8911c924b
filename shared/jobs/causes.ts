import { currentTraceparent } from '../telemetry/trace-context.ts';
import type { JobQueue, QueuedJob } from './backend.ts';

const maxLinks = 20;

/** The traces that asked for a job, as its data carries them: the latest ones, at most 20. */
export class TraceLinks {
  #traceparents: string[] = [];

  /** Remembers what runs now, where it is traced. */
  note(): void {
    const traceparent = currentTraceparent();
    if (traceparent !== undefined) this.#traceparents = union(this.#traceparents, [traceparent]);
  }

  /** What was noted since the last take. */
  take(): readonly string[] {
    return this.#traceparents.splice(0);
  }

  /** Keeps what was taken for nothing. */
  give(traceparents: readonly string[]): void {
    this.#traceparents = union(traceparents, this.#traceparents);
  }
}

/** The data of a job with these causes. */
export function toJobData(causes: readonly string[]): object {
  return causes.length === 0 ? {} : { causes };
}

export function causesOf(data: unknown): readonly string[] {
  const given = typeof data === 'object' && data !== null && 'causes' in data ? data.causes : undefined;
  if (!Array.isArray(given)) return [];
  return given.filter((cause) => typeof cause === 'string').slice(0, maxLinks);
}

/** A job that was there already stands for the one that was to be added, whose causes it then lacks. */
export async function addCauses(queue: JobQueue, { id }: QueuedJob, causes: readonly string[]): Promise<void> {
  const job = id === undefined || causes.length === 0 ? undefined : await queue.getJob(id);
  if (job === undefined) return;
  const known = causesOf(job.data);
  if (causes.every((cause) => known.includes(cause))) return;
  await job.updateData(toJobData(union(known, causes)));
}

function union(known: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...known, ...more])].slice(-maxLinks);
}
