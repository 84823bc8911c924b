import { create, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { CouponService, ValidateRequestSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RetryInfoSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';
import { expectError, failureOf } from '../../support/contract.ts';
import { holding } from '../../support/locks.ts';
import { asServiceRole } from '../../support/postgres.ts';
import { enveloped } from '../../support/raw-calls.ts';
import { runService } from '../../support/running-service.ts';
import { signToken } from '../../support/tokens.ts';

const limit = 3;
const notFound = { valid: false, message: 'Coupon not found or invalidated' };
/** Misses can't be counted while this lock is held; the counts can be read. */
const lockCounts = 'lock table validate_misses in share mode';

/** As docs/operating.md has it. */
const ofSubject = `where key = encode(sha256(convert_to($1, 'UTF8')), 'hex')`;

describe('VALIDATE_MISSES_PER_MINUTE', () => {
  const service = runService('coupon', () => ({ validateMissesPerMinute: limit }));
  const replica = runService('coupon', ({ database }) => ({
    validateMissesPerMinute: limit,
    database: { ...database, url: asServiceRole(service.database.url) },
  }));
  let subjects = 0;
  beforeAll(() =>
    service.sql(`
      insert into coupons (coupon_code, flat_discount, is_apply_for_all, valid_till, created_by)
      values ('HIT', 5, true, null, 1), ('EXPIRED', 5, true, '2020-01-01', 1)`),
  );

  /** A caller with a subject of its own: a client of each replica. */
  const newCaller = (subject = `caller-${++subjects}`) => {
    const [here, there] = [service, replica].map((one) => createClient(CouponService, one.as({ subject })));
    if (here === undefined || there === undefined) throw new Error('there are two replicas');
    return { subject, here, there };
  };

  const miss = ({ here }: ReturnType<typeof newCaller>) => here.validate({ code: 'NONE' });
  async function missAll(caller: ReturnType<typeof newCaller>) {
    for (let n = 0; n < limit; n += 1) expect(await miss(caller)).toMatchObject(notFound);
  }
  const endWindow = (subject: string, inMs: number) =>
    service.sql(`update validate_misses set expire = $2 ${ofSubject}`, [subject, Date.now() + inMs]);
  const missesOf = async (subject: string) =>
    (await service.sql(`select points from validate_misses ${ofSubject}`, [subject]))[0]?.points;

  it('A caller that has missed as many codes as it may in a minute is refused, also with a code that exists', async () => {
    const caller = newCaller();
    await missAll(caller);
    await expectError(miss(caller), 'TOO_MANY_MISSES');
    await expectError(caller.here.validate({ code: 'HIT', orderAmount: 10 }), 'TOO_MANY_MISSES');
  });

  it('The RetryInfo of a refusal says when the minute ends', async () => {
    const caller = newCaller();
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

  const { typeName } = CouponService;
  const requestTo = (port: number, type: string, authorization: string) => (code: string) => {
    const message = toBinary(ValidateRequestSchema, create(ValidateRequestSchema, { code }));
    const body = type === 'application/proto' ? message : enveloped(message);
    const headers = { 'content-type': type, authorization, origin: 'http://allowed.example' };
    return fetch(`http://127.0.0.1:${port}/${typeName}/Validate`, { method: 'POST', headers, body });
  };

  it.each([
    ['Connect', 'application/proto'],
    ['gRPC-Web', 'application/grpc-web+proto'],
  ])('Over %s, Retry-After says the same, in whole seconds, to pages of other origins, too', async (_way, type) => {
    const caller = newCaller();
    const request = requestTo(service.webPort, type, `Bearer ${await signToken({ subject: caller.subject })}`);
    for (let left = limit; left > 0; left -= 1) expect((await request('NONE')).headers.has('retry-after')).toBe(false);
    await endWindow(caller.subject, 30_500);
    const { headers } = await request('HIT');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(25);
    expect(headers.get('retry-after')).toMatch(/^(?:2\d|3[01])$/);
    expect(headers.get('access-control-expose-headers')?.split(',')).toContain('Retry-After');
  });

  it('Codes that exist, expired ones, and empty codes are not counted', async () => {
    const caller = newCaller();
    for (let n = 0; n <= limit; n += 1) {
      expect(await caller.here.validate({ code: 'HIT', orderAmount: 10 })).toMatchObject({ valid: true });
      expect(await caller.here.validate({ code: 'EXPIRED' })).toMatchObject({ message: 'Coupon has expired' });
      expect(await caller.here.validate({})).toMatchObject({ message: 'Invalid coupon code' });
    }
    expect(await missesOf(caller.subject)).toBeUndefined();
    await missAll(caller);
  });

  it('A caller whose count is deleted may miss as many codes again', async () => {
    const caller = newCaller();
    await missAll(caller);
    await service.sql(`delete from validate_misses ${ofSubject}`, [caller.subject]);
    await missAll(caller);
  });

  it('The misses of one caller do not count for another', async () => {
    const [one, other] = [newCaller(), newCaller()];
    await missAll(one);
    await missAll(other);
  });

  it('A caller may miss as many codes again once the minute has ended', async () => {
    const caller = newCaller();
    await missAll(caller);
    await endWindow(caller.subject, 0);
    await missAll(caller);
    await expectError(miss(caller), 'TOO_MANY_MISSES');
  });

  it('Misses are counted over all replicas, and each refuses the caller at once', async () => {
    const { here, there } = newCaller();
    await here.validate({ code: 'NONE' });
    await there.validate({ code: 'NONE' });
    await here.validate({ code: 'NONE' });
    await expectError(there.validate({ code: 'HIT', orderAmount: 10 }), 'TOO_MANY_MISSES');
    await expectError(here.validate({ code: 'HIT', orderAmount: 10 }), 'TOO_MANY_MISSES');
  });

  it('Of concurrent guesses at two replicas, no more than the limit are answered as not found', async () => {
    const { here, there } = newCaller();
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
    const caller = newCaller();
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
    const caller = newCaller();
    await service.sql('revoke insert on validate_misses from service');
    const failure = await failureOf(miss(caller));
    await service.sql('grant insert on validate_misses to service');
    expect(failure.rawMessage).toBe('Internal error');
  });

  it('The misses of a caller whose subject is long are counted', async () => {
    const caller = newCaller('x'.repeat(5_000));
    await missAll(caller);
    await expectError(miss(caller), 'TOO_MANY_MISSES');
  });

  it('Counts whose minute is over are removed by the first miss of another minute', async () => {
    const [old, recent] = [newCaller(), newCaller()];
    await missAll(old);
    await missAll(recent);
    await endWindow(old.subject, -1_000);
    await endWindow(recent.subject, 30_000);
    await miss(newCaller());
    expect(await missesOf(old.subject)).toBeUndefined();
    expect(await missesOf(recent.subject)).toBe(limit);
  });
});
