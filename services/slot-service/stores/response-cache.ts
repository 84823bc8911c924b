import type { DescMessage } from '@bufbuild/protobuf';
import { LRUCache } from 'lru-cache';
import type { DatabaseClock } from '../../../shared/clock/clock.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';
import { AnswerResponse } from '../../../shared/rpc/answers/response.ts';
import type { StoreContent } from './content.ts';
import { OpenSlots } from './open-slots.ts';

const maxKeyLength = 200;

/**
 * Caches responses of the stores for as long as they are valid: until a new version is loaded, or the
 * first of their slots closes.
 */
export class ResponseCache<Output extends DescMessage> {
  readonly #responses: LRUCache<string, { response: AnswerResponse<Output>; untilMs: number }>;
  readonly #schema: Output;
  readonly #clock: DatabaseClock;
  #content: StoreContent | undefined;

  /** @param maxShown the maximum number of slots and product ids in all kept responses together. */
  constructor(schema: Output, clock: DatabaseClock, maxShown: number) {
    this.#schema = schema;
    this.#clock = clock;
    this.#responses = new LRUCache({ maxSize: maxShown });
  }

  /** Returns the response kept under `key`, or builds a new one. Throws the errors of `build`. */
  get(content: StoreContent, key: string, build: (open: OpenSlots) => Answer<Output>): AnswerResponse<Output> {
    if (content !== this.#content) this.#responses.clear();
    this.#content = content;
    const nowMs = this.#clock.now();
    const kept = this.#responses.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.response;
    const open = new OpenSlots(nowMs);
    const response = new AnswerResponse(this.#schema, build(open));
    if (key.length > maxKeyLength) return response;
    this.#responses.set(key, { response, untilMs: open.untilMs }, { size: 1 + open.size });
    return response;
  }
}
