import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RetryInfoSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';
import { expectError, failureOf } from '../../support/contract.ts';
import { createDatabase } from '../../support/database.ts';
import { holding } from '../../support/locks.ts';
import { asServiceRole } from '../../support/postgres.ts';
import { grpc } from '../../support/protocols.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signToken, withToken } from '../../support/tokens.ts';

const limit = 3;
const notFound = { valid: false, message: 'Coupon not found or invalidated' };
/** Misses can't be counted while this lock is held; the counts can be read. */
const lockCounts = 'lock table validate_misses in share mode';

/** As docs/operating.md has it. */
const ofSubject = `where key = encode(sha256(convert_to($1, 'UTF8')), 'hex')`;

describe('VALIDATE_MISSES_PER_MINUTE', () => {
  let service: TestService;
  let replica: TestService;
  let connections: ReturnType<typeof grpc.open>[];
  let subjects = 0;

  beforeAll(async () => {
    service = await startTestService('coupon', () => ({ validateMissesPerMinute: limit }));
    replica = await startTestService('coupon', ({ database }) => ({
      validateMissesPerMinute: limit,
      database: { ...database, url: asServiceRole(service.database.url) },
    }));
    connections = [grpc.open(service), grpc.open(replica)];
    await service.database.sql(`
      insert into coupons (coupon_code, flat_discount, is_apply_for_all, valid_till, created_by)
      values ('HIT', 5, true, null, 1), ('EXPIRED', 5, true, '2020-01-01', 1)`);
  });
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await replica.stop();
    await service.stop();
  });

  /** A caller with a subject of its own: a client of each replica. */
  async function newCaller(subject = `caller-${++subjects}`) {
    const token = await signToken({ subject });
    const [here, there] = connections.map(({ transport }) => createClient(CouponService, withToken(transport, token)));
    if (here === undefined || there === undefined) throw new Error('there are two replicas');
    return { subject, here, there };
  }

  const miss = ({ here }: Awaited<ReturnType<typeof newCaller>>) => here.validate({ code: 'NONE' });
  async function missAll(caller: Awaited<ReturnType<typeof newCaller>>) {
    for (let n = 0; n < limit; n += 1) expect(await miss(caller)).toMatchObject(notFound);
  }
  const endWindow = (subject: string, inMs: number) =>
    service.database.sql(`update validate_misses set expire = $2 ${ofSubject}`, [subject, Date.now() + inMs]);
  const missesOf = async (subject: string) =>
    (await service.database.sql(`select points from validate_misses ${ofSubject}`, [subject]))[0]?.points;

  it('A caller that has missed as many codes as it may in a minute is refused, also with a code that exists', async () => {
    const caller = await newCaller();
    await missAll(caller);
    await expectError(miss(caller), 'TOO_MANY_MISSES');
    await expectError(caller.here.validate({ code: 'HIT', orderAmount: 10 }), 'TOO_MANY_MISSES');
  });

  it('The RetryInfo of a refusal says when the minute ends', async () => {
    const caller = await newCaller();
    await missAll(caller);
    const retryDelay = async () => {
      const [info] = (await failureOf(miss(caller))).findDetails(RetryInfoSchema);
      return Number(info?.retryDelay?.seconds) + Number(info?.retryDelay?.nanos) / 1e9;
    };
    const full = await retryDelay();
    expect(full).toBeGreaterThan(0);
    expect(full).toBeLessThanOrEqual(60);
    await endWindow(caller.subject, 3_600_000);
    const moved = await retryDelay();
    expect(moved).toBeGreaterThan(3_000);
    expect(moved).toBeLessThanOrEqual(3_600);
  });

  it('Codes that exist, expired ones, and empty codes are not counted', async () => {
    const caller = await newCaller();
    for (let n = 0; n <= limit; n += 1) {
      expect(await caller.here.validate({ code: 'HIT', orderAmount: 10 })).toMatchObject({ valid: true });
      expect(await caller.here.validate({ code: 'EXPIRED' })).toMatchObject({ message: 'Coupon has expired' });
      expect(await caller.here.validate({})).toMatchObject({ message: 'Invalid coupon code' });
    }
    expect(await missesOf(caller.subject)).toBeUndefined();
    await missAll(caller);
  });

  it('A caller whose count is deleted may miss as many codes again', async () => {
    const caller = await newCaller();
    await missAll(caller);
    await service.database.sql(`delete from validate_misses ${ofSubject}`, [caller.subject]);
    await missAll(caller);
  });

  it('The misses of one caller do not count for another', async () => {
    const [one, other] = [await newCaller(), await newCaller()];
    await missAll(one);
    await missAll(other);
  });

  it('A caller may miss as many codes again once the minute has ended', async () => {
    const caller = await newCaller();
    await missAll(caller);
    await endWindow(caller.subject, 0);
    await missAll(caller);
    await expectError(miss(caller), 'TOO_MANY_MISSES');
  });

  it('Misses are counted over all replicas, and each refuses the caller at once', async () => {
    const { here, there } = await newCaller();
    await here.validate({ code: 'NONE' });
    await there.validate({ code: 'NONE' });
    await here.validate({ code: 'NONE' });
    await expectError(there.validate({ code: 'HIT', orderAmount: 10 }), 'TOO_MANY_MISSES');
    await expectError(here.validate({ code: 'HIT', orderAmount: 10 }), 'TOO_MANY_MISSES');
  });

  it('Of concurrent guesses at two replicas, no more than the limit are answered as not found', async () => {
    const { here, there } = await newCaller();
    const { guesses, answers } = await holding(service.database.url, lockCounts, async (lock) => {
      const guesses = Array.from({ length: 25 }, (_, n) => [
        here.validate({ code: `NONE-${n}` }),
        there.validate({ code: `NONE-${n}` }),
      ]).flat();
      const answered = Promise.allSettled(guesses);
      // Each replica by itself would answer as many.
      await lock.untilAwaited(2 * limit);
      await lock.release();
      return { guesses, answers: await answered };
    });
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(limit);
    const guess = guesses[answers.findIndex(({ status }) => status === 'rejected')];
    await expectError(Promise.resolve(guess), 'TOO_MANY_MISSES');
  });

  it('A miss is counted also when its caller leaves before it is', async () => {
    const caller = await newCaller();
    await holding(service.database.url, lockCounts, async (lock) => {
      const leaving = new AbortController();
      const left = failureOf(caller.here.validate({ code: 'NONE' }, { signal: leaving.signal }));
      await lock.untilAwaited();
      leaving.abort();
      await left;
      const isLogged = () => service.log.some(({ sub, code }) => sub === caller.subject && code === 'CANCELED');
      await expect.poll(isLogged).toBe(true);
      await lock.release();
    });
    await expect.poll(() => missesOf(caller.subject)).toBe(1);
  });

  it('A miss that the database fails to count is answered as a failure of the database', async () => {
    const caller = await newCaller();
    await service.database.sql('revoke insert on validate_misses from service');
    const failure = await failureOf(miss(caller));
    await service.database.sql('grant insert on validate_misses to service');
    expect(failure.rawMessage).toBe('Internal error');
  });

  it('The misses of a caller whose subject is long are counted', async () => {
    const caller = await newCaller('x'.repeat(5_000));
    await missAll(caller);
    await expectError(miss(caller), 'TOO_MANY_MISSES');
  });

  it('Counts whose minute is over are removed by the first miss of another minute', async () => {
    const [old, recent] = [await newCaller(), await newCaller()];
    await missAll(old);
    await missAll(recent);
    await endWindow(old.subject, -1_000);
    await endWindow(recent.subject, 30_000);
    await miss(await newCaller());
    expect(await missesOf(old.subject)).toBeUndefined();
    expect(await missesOf(recent.subject)).toBe(limit);
  });
});

it('The migration lets the role of services read and write the counts of misses, and not change their table', async () => {
  const database = await createDatabase();
  const rights = await database.sql(`
    select privilege from unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'trigger']) as privilege
    where has_table_privilege('service', 'validate_misses', privilege)`);
  await database.close();
  expect(rights.map(({ privilege }) => privilege)).toEqual(['select', 'insert', 'update', 'delete']);
});
