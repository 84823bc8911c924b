import { setTimeout as pause } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import type { GrpcClient } from '../../services/client/client.ts';
import type { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import type { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { eventually } from '../support/eventually.ts';
import { openSlot } from '../support/slot-writes.ts';

export interface Caller {
  /** Makes one read. Rejects with `Met`, or with the error of a read that is not worth another try. */
  read(): Promise<unknown>;
  /** Creates a record of that name. Rejects as `read` does. */
  write(name: string): Promise<unknown>;
}

/** Why a call failed: it is worth another try, or an earlier try was carried out. */
export class Met extends Error {
  readonly kind: 'unavailable' | 'taken';

  constructor(kind: Met['kind'], cause: unknown) {
    super(kind, { cause });
    this.kind = kind;
  }
}

const callsBetween = 40;
const maxAttempts = 40;
const waitMs = 50;

/** Clients that call all the time, and retry calls that fail as unavailable. */
export class RollingLoad {
  /** The names of writes that were acknowledged. */
  readonly acknowledged: string[] = [];
  readonly failures: string[] = [];
  reads = 0;
  retries = 0;
  #stopped = false;
  readonly #name: string;
  readonly #callers: Promise<void>[];

  constructor(name: string, caller: Caller) {
    this.#name = name;
    const read = async () => {
      await this.#retrying(() => caller.read());
      this.reads += 1;
    };
    this.#callers = [
      this.#repeat(read),
      this.#repeat(read),
      this.#repeat((n) => this.#write(caller, `a${n}`)),
      this.#repeat((n) => this.#write(caller, `b${n}`)),
    ];
  }

  get done(): number {
    return this.reads + this.acknowledged.length;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }

  async #repeat(work: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.#stopped; n += 1) {
      await work(n).catch((error: unknown) => this.failures.push(String(error)));
      await pause(5);
    }
  }

  async #write(caller: Caller, at: string): Promise<void> {
    const name = `${this.#name}-${at}`;
    let tries = 0;
    await this.#retrying(() => {
      tries += 1;
      return caller.write(name).catch((error: unknown) => {
        // An earlier try was carried out, and its answer was lost.
        if (!(tries > 1 && error instanceof Met && error.kind === 'taken')) throw error;
      });
    });
    this.acknowledged.push(name);
  }

  async #retrying(work: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await work();
        return;
      } catch (error) {
        if (!(error instanceof Met && error.kind === 'unavailable') || tries === maxAttempts) throw error;
        this.retries += 1;
        await pause(waitMs);
      }
    }
  }
}

/** Waits until more calls of each load have succeeded, or one has failed. */
export async function underLoad(loads: readonly RollingLoad[]): Promise<void> {
  for (const load of loads) {
    const goal = load.done + callsBetween;
    await eventually(() => {
      if (load.done < goal && load.failures.length === 0) throw new Error(`${goal - load.done} calls are to come`);
    });
  }
}

/** Calls over gRPC. The client itself retries reads: none is retried here. */
export function grpcCaller(slots: GrpcClient<typeof SlotService>, slotId: number): Caller {
  return {
    read: () => slots.getSlotById({ id: slotId }),
    write: (name) =>
      judged(slots.createSlot({ ...openSlot(), vendorSnippets: [{ name, productIds: [1] }] }), 'SNIPPET_NAME_TAKEN'),
  };
}

/** Calls coupon-service over gRPC. It creates coupons with the codes that it is given. */
export function couponCaller(coupons: GrpcClient<typeof CouponService>): Caller {
  return {
    read: () => judged(coupons.validate({ code: 'none', userId: 1, orderAmount: 1 })),
    write: (couponCode) => judged(coupons.create({ coupon: { couponCode, discountPercent: 1 } }), 'COUPON_CODE_TAKEN'),
  };
}

/** The answer of a call over gRPC. Rejects as those of a caller do. */
export async function judged<Answer>(call: Promise<Answer>, taken?: string): Promise<Answer> {
  try {
    return await call;
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    if (error.code === Code.Unavailable) throw new Met('unavailable', error);
    const [info] = error.findDetails(ErrorInfoSchema);
    throw info !== undefined && info.reason === taken ? new Met('taken', error) : error;
  }
}

/** The code with which a balancer resets a stream. */
const resetCodes = { HAProxy: 0, nginx: 2 };

/** Has calls over gRPC made again that a balancer cut: their replica was killed when its answer had begun. */
export function retryingCut(balancer: keyof typeof resetCodes, { read, write }: Caller): Caller {
  const code = resetCodes[balancer];
  const met = (thrown: unknown): never => {
    const error = ConnectError.from(thrown);
    const isCut = error.code === Code.Internal && error.rawMessage.startsWith(`Received RST_STREAM with code ${code} `);
    throw isCut ? new Met('unavailable', error) : thrown;
  };
  return { read: () => read().catch(met), write: (name) => write(name).catch(met) };
}

/** Calls over Connect on HTTP/1.1, to each of the ports in turn. */
export function connectCaller(ports: readonly number[], token: string, slotId: number): Caller {
  let calls = 0;
  const call = async (method: string, body: object): Promise<void> => {
    const port = ports[calls++ % ports.length];
    const response = await fetch(`http://127.0.0.1:${port}/slot.v1.SlotService/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    }).catch((error: unknown) => {
      throw new Met('unavailable', error);
    });
    const text = await response.text().catch((error: unknown) => {
      throw new Met('unavailable', error);
    });
    // 502 and 504 are a balancer's: clients of Connect take them for UNAVAILABLE, too.
    if ([502, 503, 504].includes(response.status)) throw new Met('unavailable', text);
    if (text.includes('SNIPPET_NAME_TAKEN')) throw new Met('taken', text);
    if (!response.ok) throw new Error(`${method}: ${text}`);
  };
  return {
    read: () => call('GetSlotById', { id: slotId }),
    write: (name) => call('CreateSlot', { ...openSlot(), vendorSnippets: [{ name, productIds: [1] }] }),
  };
}
