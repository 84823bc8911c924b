import type { DescMessage } from '@bufbuild/protobuf';
import { LRUCache } from 'lru-cache';
import type { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import type { StoreContent, StoredSlot } from './store.ts';

const maxKeyLength = 200;

/**
 * Answers of the stores that are given again while nothing about them changes: until a new version
 * is loaded, or the first of their slots closes.
 */
export class ResponseCache<Output extends DescMessage> {
  readonly #answers: LRUCache<string, { answer: EncodedResponse<Output>; untilMs: number }>;
  #content: StoreContent | undefined;

  /** @param maxShown how many slots and product ids all kept answers together may show. */
  constructor(maxShown: number) {
    this.#answers = new LRUCache({ maxSize: maxShown });
  }

  /** The kept answer under `key`, or a new one; `build` also tells which slots it shows. */
  get(
    content: StoreContent,
    key: string,
    build: (nowMs: number) => { answer: EncodedResponse<Output>; shown: readonly StoredSlot[] },
  ): EncodedResponse<Output> {
    if (content !== this.#content) this.#answers.clear();
    this.#content = content;
    const nowMs = Date.now();
    const kept = this.#answers.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.answer;
    const { answer, shown } = build(nowMs);
    if (key.length > maxKeyLength) return answer;
    const untilMs = shown.reduce((soonest, { freezeMs }) => Math.min(soonest, freezeMs), Number.POSITIVE_INFINITY);
    const size = shown.reduce((sum, { message: { productIds } }) => sum + 1 + productIds.length, 1);
    this.#answers.set(key, { answer, untilMs }, { size });
    return answer;
  }
}
