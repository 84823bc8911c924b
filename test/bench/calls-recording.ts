import { create } from '@bufbuild/protobuf';
import pino from 'pino';
import { createCouponHandlers } from '../../services/coupon-service/handlers.ts';
import { createSlotHandlers } from '../../services/slot-service/handlers.ts';
import { SequenceCache } from '../../services/slot-service/sequence.ts';
import { Database, type Queryable } from '../../shared/db/database.ts';
import {
  GetAllRequestSchema,
  GetSlotByIdRequestSchema,
  GetSlotsProductIdsRequestSchema,
  GetSlotsRequestSchema,
  SlotService,
} from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { Call } from '../../shared/rpc/call.ts';
import type { RecordedStatement, Recording } from './bare-config.ts';
import { couponToCreate, slotToCreate } from './calls-requests.ts';

// The bare servers run the SQL of the services, whatever becomes of it: the handlers are called once
// each, and what they run is written down.

/** Writes down what runs, with the statements that begin and end a transaction. */
class RecordingDatabase extends Database {
  readonly #statements: RecordedStatement[] = [];

  /** What ran since the last time. */
  take(): RecordedStatement[] {
    return this.#statements.splice(0);
  }

  override during(signal: AbortSignal): Queryable {
    return this.#recorded(super.during(signal));
  }

  override async transaction<Result>(signal: AbortSignal, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
    this.#statements.push({ name: 'begin', text: 'begin', values: [] });
    const result = await super.transaction(signal, (tx) => work(this.#recorded(tx)));
    this.#statements.push({ name: 'commit', text: 'commit', values: [] });
    return result;
  }

  #recorded(db: Queryable): Queryable {
    return {
      query: (statement, values = []) => {
        this.#statements.push({ name: statement.name, text: statement.text, values });
        return db.query(statement, values);
      },
    };
  }
}

/** Calls each measured procedure that uses the database, on one that is not measured. */
export async function recordProcedures(databaseUrl: string): Promise<Record<string, Recording>> {
  const limits = { poolSize: 1, connectionTimeoutMs: 5_000, statementTimeoutMs: 30_000 };
  const database = new RecordingDatabase(
    { ...limits, url: databaseUrl, applicationName: 'bench' },
    pino({ level: 'silent' }),
  );
  const sequences = new SequenceCache();
  const slots = createSlotHandlers({
    database,
    sequences,
    appUrl: '',
    replicaId: 'bench',
    requestRefresh: () => undefined,
  });
  const coupons = createCouponHandlers({ database, codePrefix: 'DC' });
  const call = new Call({
    method: SlotService.method.getAll,
    protocol: 'grpc',
    header: () => undefined,
    openSignal: () => AbortSignal.timeout(30_000),
    decode: () => create(GetAllRequestSchema),
  });
  call.identity = { subject: 'bench', claimedStaffId: 1, staffId: async () => 1 };

  const taken = (texts: string[] = [], id?: number): Recording => {
    const statements = database.take();
    if (statements.length === 0) throw new Error('no statement was recorded');
    return { statements, texts, id };
  };
  try {
    await slots.getAll(create(GetAllRequestSchema), call);
    const getAll = taken();
    await slots.getSlots(create(GetSlotsRequestSchema), call);
    const getSlots = taken();
    await slots.getSlotById(create(GetSlotByIdRequestSchema, { id: 1 }), call);
    const getSlotById = taken();
    await slots.getSlotsProductIds(create(GetSlotsProductIdsRequestSchema, { slotIds: [1] }), call);
    const getSlotsProductIds = taken();
    const names = ['recorded-first', 'recorded-second'];
    const { slot } = await slots.createSlot(slotToCreate(names), call);
    const createSlot = taken(names, slot?.id);
    const { coupon } = await coupons.create(couponToCreate(), call);
    const createCoupon = taken([coupon?.couponCode ?? '']);
    return {
      GetAll: getAll,
      GetSlots: getSlots,
      GetSlotById: getSlotById,
      GetSlotsProductIds: getSlotsProductIds,
      CreateSlot: createSlot,
      Create: createCoupon,
    };
  } finally {
    sequences.close();
    await database.close();
  }
}
