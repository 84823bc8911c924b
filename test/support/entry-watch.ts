import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { expect } from 'vitest';
import {
  type AuditEntry,
  AuditService,
  type WatchEntriesResponse,
} from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { eventually } from './eventually.ts';

type WatchOptions = Parameters<Client<typeof AuditService>['watchEntries']>[0];

/** A stream of WatchEntries, and what it has sent. */
export class EntryWatch {
  readonly answers: WatchEntriesResponse[] = [];
  /** Resolves when the stream ends, or rejects with its error. */
  readonly end: Promise<void>;
  readonly #canceled = new AbortController();

  constructor(transport: Transport, request: WatchOptions = {}) {
    const { signal } = this.#canceled;
    this.end = this.#read(createClient(AuditService, transport).watchEntries(request, { signal }));
    this.end.catch(() => undefined);
  }

  /** Opens a stream, and resolves once it has told its first position. */
  static async open(transport: Transport, request: WatchOptions = {}): Promise<EntryWatch> {
    const watch = new EntryWatch(transport, request);
    await Promise.race([watch.end, eventually(async () => expect(watch.answers).not.toEqual([]))]);
    return watch;
  }

  get entries(): AuditEntry[] {
    return this.answers.flatMap(({ entries }) => entries);
  }

  /** The last position. */
  get position(): string {
    return this.answers.at(-1)?.position ?? '';
  }

  /** The records of the entries, such as `slot 1`. */
  get records(): string[] {
    return this.entries.map(({ resourceType, resourceId }) => `${resourceType} ${resourceId}`);
  }

  /** Resolves once that many entries have come. */
  until(count: number): Promise<void> {
    return eventually(async () => expect(this.entries.length).toBeGreaterThanOrEqual(count));
  }

  async cancel(): Promise<void> {
    this.#canceled.abort();
    await this.end.catch(() => undefined);
  }

  async #read(stream: AsyncIterable<WatchEntriesResponse>): Promise<void> {
    for await (const answer of stream) this.answers.push(answer);
  }
}
