import type { DescMessage } from '@bufbuild/protobuf';
import { LRUCache } from 'lru-cache';
import type { DatabaseClock } from '../../../shared/clock/clock.ts';
import type { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import type { StoreContent } from './content.ts';
import { OpenSlots } from './open-slots.ts';

const maxKeyLength = 200;

/**
 * Caches responses of the stores for as long as they are valid: until a new version is loaded, or the
 * first of their slots closes.
 */
export class ResponseCache<Output extends DescMessage> {
  readonly #responses: LRUCache<string, { response: EncodedResponse<Output>; untilMs: number }>;
  readonly #clock: DatabaseClock;
  #content: StoreContent | undefined;

  /** @param maxShown the maximum number of slots and product ids in all kept responses together. */
  constructor(clock: DatabaseClock, maxShown: number) {
    this.#clock = clock;
    this.#responses = new LRUCache({ maxSize: maxShown });
  }

  /** Returns the response kept under `key`, or builds a new one. Throws the errors of `build`. */
  get(
    content: StoreContent,
    key: string,
    build: (open: OpenSlots) => EncodedResponse<Output>,
  ): EncodedResponse<Output> {
    if (content !== this.#content) this.#responses.clear();
    this.#content = content;
    const nowMs = this.#clock.now();
    const kept = this.#responses.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.response;
    const open = new OpenSlots(nowMs);
    const response = build(open);
    if (key.length > maxKeyLength) return response;
    this.#responses.set(key, { response, untilMs: open.untilMs }, { size: 1 + open.size });
    return response;
  }
}
