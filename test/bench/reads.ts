import { create, type MessageInitShape } from '@bufbuild/protobuf';
import pg from 'pg';
import pino from 'pino';
import { createCouponHandlers } from '../../services/coupon-service/handlers.ts';
import { createCatalogHandlers, createSlotHandlers } from '../../services/slot-service/handlers.ts';
import { listSlots as createListSlots } from '../../services/slot-service/procedures/list-slots.ts';
import { SequenceCache } from '../../services/slot-service/slots/sequence-cache.ts';
import { readConfig } from '../../shared/config/config.ts';
import type { Caller } from '../../shared/db/caller.ts';
import { Database } from '../../shared/db/database.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { type BoundStatement, type Queryable, statement } from '../../shared/db/statement.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotOrder, SlotPlanService, SlotState } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { testSecret } from '../support/tokens.ts';
import { loadBenchData } from './data-load.ts';
import { loadProducts } from './data-products.ts';
import { loadSlots, spread, spreadSlots } from './data-slots.ts';
import { median } from './median.ts';
import { machine, onPostgres, readOptions, tableHead, tableRow } from './program.ts';

// npm run bench:reads -- [--small 0.01] [--large 1] [--only text] [--plans yes]: the reads of both services, as they run them, at 10,000
// coupons and at 1,000,000, for example: medians, their ratio, and the indexes of the plans. It loads both into a PostgreSQL of its own.

const { options } = readOptions({ small: '0.01', large: '1', only: '', plans: '' });

type Read = () => Promise<unknown>;

/** Terms, each after what it finds. */
const terms = [
  ...['common, 1 letter: D', 'common, 2 letters: DC', 'common, 3 letters: SAV', '1 % of rows, 2 letters: K7'],
  ...['0.4 % of rows, 3 digits: 123', 'rare, 1 letter: Q', 'rare, 2 letters: qx', 'rare, 3 letters: QXZ'],
  ...['no match, 1 letter: ~', 'no match, 2 letters: QQ', 'no match, 3 letters: QQQ', 'no match, 3 signs: %%%'],
];
const userTerms = [
  ...['common, 1 letter: a', 'common, 2 letters: ra', 'common, 3 letters: men', 'common, 2 digits: 98'],
  ...['0.7 % of rows, 3 digits: 712', 'rare, 1 letter: q', 'rare, 2 letters: qx', 'rare, 3 letters: qxz'],
  ...['no match, 1 letter: ~', 'no match, 2 letters: qq', 'no match, 3 letters: qqq'],
];

const productTerms = [
  ...['common, 1 letter: a', 'common, 2 letters: an', 'common, 3 letters: ban'],
  ...['5 % of rows, side by side, 5 letters: mango', '5 % of rows, 4 letters: iyer'],
  ...['0.5 % of rows, 3 digits: 712', '0.03 % of rows, 9 characters: iyer 712 ', 'an id: 712345'],
  ...['rare, 1 letter: q', 'rare, 2 letters: qx', 'rare, 3 letters: qxz', 'no match, 1 letter: ~'],
  ...['no match, 2 letters: qq', 'no match, 3 letters: qqq'],
];

const slotFilters: readonly [string, MessageInitShape<typeof SlotPlanService.method.listSlots.input>][] = [
  ['', {}],
  [', active or not', { states: [SlotState.ACTIVE, SlotState.INACTIVE] }],
  [', full ones, of which there are none', { isCapacityFull: true }],
  [', a product of 0.4 % of rows', { productId: 1_000 }],
  [', a product of 1 % of rows', { productId: spread.everyHundredth }],
  [', a product of 10 % of rows', { productId: spread.everyTenth }],
  [', a product of the last 10 %', { productId: spread.lastTenth }],
  [', a product of all rows', { productId: spread.all }],
  [', a group of 1 % of rows', { groupId: spread.everyHundredth }],
  [', a group of 10 % of rows', { groupId: spread.everyTenth }],
  [', a group of the last 10 %', { groupId: spread.lastTenth }],
  [', a group of all rows', { groupId: spread.all }],
  [', no match, a group', { groupId: 1 }],
  [', a product and a group', { productId: 1_000, groupId: spread.everyTenth }],
  [', a common product and a common group', { productId: spread.everyTenth, groupId: spread.everyTenth }],
  [', a common product and a group of the last 10 %', { productId: spread.all, groupId: spread.lastTenth }],
];

/** The reads that are measured; a code of the middle of the table is looked up first. */
async function readsOf(database: Database, sequences: SequenceCache): Promise<[string, Read][]> {
  const [middle] = await database.for({ signal: AbortSignal.timeout(60_000) }).query(middleCoupon());
  if (middle === undefined) throw new Error('the database has no coupons');
  const coupons = createCouponHandlers({ database, codePrefix: 'DC', missLimit: undefined });
  const { method } = CouponService;
  const call = staffCall(method.getAll);
  const validate = (code: string) => () =>
    coupons.validate(create(method.validate.input, { code, userId: 1, orderAmount: 200 }), call);
  const getAll = (request: MessageInitShape<typeof method.getAll.input>) => () =>
    coupons.getAll(create(method.getAll.input, request), call);
  const getReserved = (request: MessageInitShape<typeof method.getReservedCoupons.input>) => () =>
    coupons.getReservedCoupons(create(method.getReservedCoupons.input, request), call);
  const getUsers = (request: MessageInitShape<typeof method.getUsersMiniInfo.input>) => () =>
    coupons.getUsersMiniInfo(create(method.getUsersMiniInfo.input, request), call);
  const catalog = createCatalogHandlers({ database });
  const lookUps = CatalogService.method;
  const searchProducts = (request: MessageInitShape<typeof lookUps.searchProducts.input>) => () =>
    catalog.searchProducts(create(lookUps.searchProducts.input, request), call);
  const productIds = Array.from({ length: 1_000 }, (_, index) => 1 + index * 9);
  const slots = createSlotHandlers({ database, sequences, appUrl: '', requestRefresh: () => undefined });
  const { getSlotById, getSlotsProductIds, getDeliverySequence } = SlotService.method;
  const list = createListSlots({ database });
  const listSlots = (request: MessageInitShape<typeof SlotPlanService.method.listSlots.input>) => () =>
    list(create(SlotPlanService.method.listSlots.input, request), call);
  // Another slot in each call, so that the cache of sequences has none of them.
  let slotId = 0;
  const nextSlot = () => (slotId += 17);
  const slotIds = Array.from({ length: 20 }, (_, index) => 1 + index * 40);
  const { nextPageToken: pageToken } = await responseOf(method.getAll, await getAll({})());
  return [
    ['Validate', validate(middle.code)],
    ['Validate, no such code', validate('NO-SUCH-CODE')],
    ['GetAll', getAll({})],
    ['GetAll, page token', getAll({ pageToken })],
    ['GetAll, cursor in the middle', getAll({ cursor: middle.id })],
    ...searches('GetAll', terms, getAll),
    ['GetReservedCoupons', getReserved({})],
    ...searches('GetReservedCoupons', terms, getReserved),
    ['GetUsersMiniInfo', getUsers({})],
    ['GetUsersMiniInfo, offset 1000', getUsers({ offset: 1000 })],
    ...searches('GetUsersMiniInfo', userTerms, getUsers),
    ['SearchProducts', searchProducts({})],
    ['SearchProducts, offset 1000', searchProducts({ offset: 1000 })],
    ['SearchProducts, the last of a million', searchProducts({ offset: 999_980 })],
    ...searches('SearchProducts', productTerms, searchProducts),
    ['GetSlotById', () => slots.getSlotById(Object.assign(create(getSlotById.input), { id: nextSlot() }), call)],
    ['GetSlotsProductIds of 20', () => slots.getSlotsProductIds(create(getSlotsProductIds.input, { slotIds }), call)],
    [
      'GetDeliverySequence, not cached',
      () => slots.getDeliverySequence(create(getDeliverySequence.input, { id: String(nextSlot()) }), call),
    ],
    ...slotFilters.flatMap(([what, filter]): [string, Read][] => [
      [`ListSlots${what}`, listSlots(filter)],
      [`ListSlots${what}, the latest first`, listSlots({ ...filter, order: SlotOrder.LATEST_FIRST })],
    ]),
    ['GetProducts, 1,000', () => catalog.getProducts(create(lookUps.getProducts.input, { productIds }), call)],
  ];
}

const searches = (name: string, terms: readonly string[], read: (request: { search: string }) => Read) =>
  terms.map((term): [string, Read] => [`${name}, ${term}`, read({ search: term.replace(/^.*?: /, '') })]);

const middleCoupon = statement<{ id: number; code: string }>(
  'middleCoupon',
  `select id, coupon_code as code from coupons
   where id >= (select (min(id) + max(id)) / 2 from coupons) and coupon_code like 'DC%' order by id limit 1`,
);

interface Measured {
  readonly milliseconds: number;
  readonly plan: string;
}

const runs = 25;
// Reads of slots take another slot in each run, up to number 986.
const leastSlots = 1_000;
const budgetMs = 4_000;

/** All reads on one connection, one after the other, so that the statements' plans age as they do. */
async function measure(url: string): Promise<Map<string, Measured>> {
  const { database: config } = readConfig('coupon', { DATABASE_URL: url, AUTH_JWT_SECRET: testSecret });
  const database = new ExplainingDatabase({ ...config, poolSize: 1 }, pino({ level: 'silent' }));
  const sequences = new SequenceCache();
  try {
    const results = new Map<string, Measured>();
    for (const [name, read] of await readsOf(database, sequences)) {
      if (!name.includes(options.only)) continue;
      try {
        for (let warmUp = 0; warmUp < 3; warmUp += 1) await read();
      } catch (error) {
        results.set(name, { milliseconds: Number.NaN, plan: `refused: ${String(error)}` });
        continue;
      }
      const times: number[] = [];
      const started = performance.now();
      while (times.length < runs && (times.length < 5 || performance.now() - started < budgetMs)) {
        const before = performance.now();
        await read();
        times.push(performance.now() - before);
      }
      results.set(name, { milliseconds: median(times), plan: await database.planOf(read) });
    }
    return results;
  } finally {
    sequences.close();
    await database.close();
  }
}

/** A value of a statement as a literal: lists are of ids. */
function literalOf(value: unknown): string {
  if (value === undefined) return 'null';
  return pg.escapeLiteral(Array.isArray(value) ? `{${value.join()}}` : String(value));
}

/** Explains what a read runs, while `planOf` asks for it. */
class ExplainingDatabase extends Database {
  #plans: string[] | undefined;

  /** The plans of a read's prepared statements as they stand on this connection now. */
  async planOf(read: Read): Promise<string> {
    this.#plans = [];
    await read();
    const plans = this.#plans;
    this.#plans = undefined;
    return plans.join('\n\n');
  }

  override for(caller: Caller): Queryable {
    const db = super.for(caller);
    return {
      ...db,
      query: async <Row>(asked: BoundStatement<Row>) => {
        const values = asked.values.length === 0 ? '' : `(${asked.values.map(literalOf).join(', ')})`;
        const execute = `explain (analyze, costs off) execute "${asked.name}"${values}`;
        if (this.#plans !== undefined) {
          const lines = await db.query<{ 'QUERY PLAN': string }>({ name: '', text: execute, values: [] });
          this.#plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
        }
        return db.query(asked);
      },
    };
  }
}

const relations = 'coupons|reserved_coupons|users|products|slots|product_slots';

/** The indexes and full scans of the searched tables that were really run; or why the read was refused. */
function scansOf(plan: string): string {
  if (plan.startsWith('refused')) return plan;
  const found = plan
    .split('\n')
    .filter((line) => !line.includes('never executed'))
    .flatMap((line) => {
      const index = /(?:Index Scan|Index Only Scan)(?: Backward)? (?:using|on) (\w+)/.exec(line)?.[1];
      const scanned = new RegExp(`Seq Scan on (${relations})\\b`).exec(line)?.[1];
      if (index !== undefined) return /_pkey|staff|applicable/.test(index) ? [] : [index];
      return scanned === undefined ? [] : [`full scan of ${scanned}`];
    });
  return [...new Set(found)].join(', ');
}

await onPostgres(async (postgres) => {
  const measured: Map<string, Measured>[] = [];
  for (const [index, scale] of [Number(options.small), Number(options.large)].entries()) {
    const url = await postgres.createDatabase(`bench_${index}`);
    await migrate(url);
    await loadBenchData(url, scale);
    await loadProducts(url, Math.round(1_000_000 * scale));
    await loadSlots(url, Math.max(leastSlots, Math.round(100_000 * scale)));
    await spreadSlots(url);
    measured.push(await measure(url));
  }
  const [small, large] = measured;
  console.log(`${machine}; medians of up to ${runs} runs\n`);
  const times = [options.small, options.large].map((scale) => `ms at ${scale}`);
  console.log(tableHead(['read', ...times, 'ratio', `scans at ${options.large}`]));
  for (const [name, { milliseconds, plan }] of large ?? []) {
    const before = small?.get(name)?.milliseconds ?? Number.NaN;
    const cells = [name, before.toFixed(2), milliseconds.toFixed(2), (milliseconds / before).toFixed(1), scansOf(plan)];
    console.log(tableRow(cells));
    if (options.plans) console.log(`\n${plan}\n`);
  }
});
