import { setTimeout as pause } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { eventually } from '../support/eventually.ts';
import type { Replica } from '../support/replica.ts';
import { openSlot } from '../support/slot-writes.ts';

type Method = 'createSlot' | 'updateSlot' | 'getSlotById' | 'getStoreStatus' | 'getOpenSlots';

interface Failure {
  readonly method: Method;
  readonly text: string;
}

/** Clients that call again and again whatever happens, and note what they got. */
export class Load {
  /** The slots of acknowledged writes. */
  readonly created: number[] = [];
  readonly failures: Failure[] = [];
  readonly succeeded = new Map<Method, number>();
  #stopped = false;
  readonly #callers: Promise<void>[];

  constructor({ slots, stores }: Replica, slotId: number) {
    const create = async () => {
      const { slot } = await slots.createSlot(openSlot());
      this.created.push(slot?.id ?? 0);
    };
    this.#callers = [
      this.#call('createSlot', create),
      this.#call('createSlot', create),
      this.#call('updateSlot', () => slots.updateSlot({ id: slotId, ...openSlot(), productIds: { ids: [] } })),
      this.#call('getSlotById', () => slots.getSlotById({ id: slotId })),
      this.#call('getStoreStatus', () => stores.getStoreStatus({})),
      this.#call('getOpenSlots', () => stores.getOpenSlots({})),
    ];
  }

  async #call(method: Method, work: () => Promise<unknown>): Promise<void> {
    while (!this.#stopped) {
      try {
        await work();
        this.succeeded.set(method, (this.succeeded.get(method) ?? 0) + 1);
      } catch (error) {
        const { code, rawMessage } = ConnectError.from(error);
        this.failures.push({ method, text: `${Code[code]}: ${rawMessage}` });
      }
      // A client whose call was refused at once waits before the next.
      await pause(5);
    }
  }

  /** The distinct errors of a method. */
  errorsOf(method: Method): string[] {
    return [...new Set(this.failures.filter((failure) => failure.method === method).map(({ text }) => text))];
  }

  /** Waits until each of the methods has failed so often. */
  untilFailing(methods: readonly Method[], times: number): Promise<void> {
    return eventually(() => {
      for (const method of methods) {
        const count = this.failures.filter((failure) => failure.method === method).length;
        if (count < times) throw new Error(`${method} failed ${count} times`);
      }
    });
  }

  /** Waits until each of the methods has succeeded three times more. */
  untilSucceeding(methods: readonly Method[]): Promise<void> {
    const before = new Map(this.succeeded);
    return eventually(() => {
      for (const method of methods) {
        const more = (this.succeeded.get(method) ?? 0) - (before.get(method) ?? 0);
        if (more < 3) throw new Error(`${method} does not succeed: ${this.errorsOf(method).join(', ')}`);
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }
}
