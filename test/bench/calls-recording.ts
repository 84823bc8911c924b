import pino from 'pino';
import { createCouponHandlers } from '../../services/coupon-service/handlers.ts';
import { createSlotHandlers } from '../../services/slot-service/handlers.ts';
import { SequenceCache } from '../../services/slot-service/slots/sequence-cache.ts';
import { readConfig } from '../../shared/config/config.ts';
import type { Caller } from '../../shared/db/caller.ts';
import { Database } from '../../shared/db/database.ts';
import { type BoundStatement, type Queryable, statement } from '../../shared/db/statement.ts';
import type { TransactionOptions } from '../../shared/db/transaction.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { testSecret } from '../support/tokens.ts';
import type { RecordedStatement, Recording } from './bare-config.ts';
import { couponToCreate, slotToCreate } from './calls-requests.ts';

// The bare servers run the SQL of the services' writes, whatever becomes of it: the handlers are called
// once each, and what they run is written down.

const begin = statement<never>('begin', 'begin')();
const commit = statement<never>('commit', 'commit')();

/** Writes down what runs, with the statements that begin and end a transaction. */
class RecordingDatabase extends Database {
  readonly #statements: RecordedStatement[] = [];

  /** What ran since the last time. */
  take(): RecordedStatement[] {
    return this.#statements.splice(0);
  }

  override for(caller: Caller): Queryable {
    const db = super.for(caller);
    return {
      ...db,
      ...this.#recorded(db),
      pipeline: (before, last) => {
        this.#record(begin, ...before, last, commit);
        return db.pipeline(before, last);
      },
    };
  }

  override async transaction<Result>(
    caller: Caller,
    work: (tx: Queryable) => Promise<Result>,
    options?: TransactionOptions<Result>,
  ): Promise<Result> {
    this.#record(begin);
    const result = await super.transaction(caller, (tx) => work({ ...tx, ...this.#recorded(tx) }), options);
    this.#record(commit);
    return result;
  }

  #recorded(db: Queryable): Pick<Queryable, 'query'> {
    return {
      query: (statement) => {
        this.#record(statement);
        return db.query(statement);
      },
    };
  }

  #record(...bound: BoundStatement<unknown>[]): void {
    for (const { name, text, values } of bound) this.#statements.push({ name, text, values });
  }
}

/** Calls each measured write, on a database that is not measured. */
export async function recordWrites(databaseUrl: string): Promise<Record<string, Recording>> {
  const config = readConfig('slot', { DATABASE_URL: databaseUrl, AUTH_JWT_SECRET: testSecret }).database;
  const database = new RecordingDatabase(config, pino({ level: 'silent' }));
  const sequences = new SequenceCache();
  const slots = createSlotHandlers({ database, sequences, appUrl: '', requestRefresh: () => undefined });
  const coupons = createCouponHandlers({ database, codePrefix: 'DC', missLimit: undefined });
  const call = staffCall(SlotService.method.getAll);

  const taken = (texts: string[] = [], id?: number): Recording => {
    const statements = database.take();
    if (statements.length === 0) throw new Error('no statement was recorded');
    return { statements, texts, id };
  };
  try {
    const names = ['recorded-first', 'recorded-second'];
    const created = await slots.createSlot(slotToCreate(names), call);
    const { slot } = await responseOf(SlotService.method.createSlot, created);
    const createSlot = taken(names, slot?.id);
    const issued = await coupons.create(couponToCreate(), call);
    const { coupon } = await responseOf(CouponService.method.create, issued);
    return { CreateSlot: createSlot, Create: taken([coupon?.couponCode ?? '']) };
  } finally {
    sequences.close();
    await database.close();
  }
}
