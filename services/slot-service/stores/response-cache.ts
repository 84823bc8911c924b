import type { DescMessage } from '@bufbuild/protobuf';
import { LRUCache } from 'lru-cache';
import type { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import type { StoreContent, StoredSlot } from './content.ts';

const maxKeyLength = 200;

/**
 * Keeps responses of the stores for as long as they hold: until a new version is loaded, or the first
 * of their slots closes.
 */
export class ResponseCache<Output extends DescMessage> {
  readonly #responses: LRUCache<string, { response: EncodedResponse<Output>; untilMs: number }>;
  #content: StoreContent | undefined;

  /** @param maxShown how many slots and product ids all kept responses together may show. */
  constructor(maxShown: number) {
    this.#responses = new LRUCache({ maxSize: maxShown });
  }

  /** The response that is kept under `key`, or a new one. `build` also gives the slots that it shows. */
  get(
    content: StoreContent,
    key: string,
    build: (nowMs: number) => { response: EncodedResponse<Output>; shown: readonly StoredSlot[] },
  ): EncodedResponse<Output> {
    if (content !== this.#content) this.#responses.clear();
    this.#content = content;
    const nowMs = Date.now();
    const kept = this.#responses.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.response;
    const { response, shown } = build(nowMs);
    if (key.length > maxKeyLength) return response;
    const untilMs = shown.reduce((soonest, { freezeMs }) => Math.min(soonest, freezeMs), Number.POSITIVE_INFINITY);
    const size = shown.reduce((sum, { message: { productIds } }) => sum + 1 + productIds.length, 1);
    this.#responses.set(key, { response, untilMs }, { size });
    return response;
  }
}
