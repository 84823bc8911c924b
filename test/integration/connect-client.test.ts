import { Code, type Interceptor } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ConnectOptions, createConnectClient } from '../../services/client/connect/connect.ts';
import { reasonOf, violationsOf } from '../../services/client/connect/errors.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { failureOf } from '../support/contract.ts';
import { runService } from '../support/running-service.ts';
import { signToken } from '../support/tokens.ts';

const body = { coupon: { discountPercent: 10, isApplyForAll: true } };
/** Makes each call twice, and gives the second answer. */
const twice: Interceptor = (next) => async (request) => {
  await next(request);
  return next(request);
};

describe('A client over Connect', () => {
  const services = { slot: runService('slot'), coupon: runService('coupon') };
  let staff: string;
  beforeAll(async () => {
    staff = await signToken({ staffId: 1 });
  });

  const urlOf = (service: 'slot' | 'coupon') => `http://localhost:${services[service].webPort}`;
  const openCoupons = (options: Partial<ConnectOptions> = {}) =>
    createConnectClient(CouponService, { baseUrl: urlOf('coupon'), token: staff, ...options });

  it('A client over Connect asks a token function for each call', async () => {
    const tokens = [staff, undefined];
    const coupons = openCoupons({ token: () => tokens.shift() });
    await coupons.getAll({});
    expect(reasonOf(await failureOf(coupons.getAll({})))).toBe('AUTHENTICATION_REQUIRED');
  });

  it('A mutation that an interceptor makes again is carried out once', async () => {
    const replayed: boolean[] = [];
    const onHeader = (received: Headers) => void replayed.push(received.has('idempotent-replayed'));
    await openCoupons({ interceptors: [twice] }).create(body, { onHeader });
    expect(replayed).toEqual([true]);
  });

  it('Each mutation has a key of its own, unless its caller gives one', async () => {
    const coupons = openCoupons();
    const headers = { 'idempotency-key': 'mine' };
    const created = [
      ...[await coupons.create(body), await coupons.create(body)],
      ...[await coupons.create(body, { headers }), await coupons.create(body, { headers })],
    ];
    expect(new Set(created.map(({ coupon }) => coupon?.id)).size).toBe(3);
  });

  it('A unary call ends at the default deadline, and a stream does not', async () => {
    const unanswered: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const error = await failureOf(openCoupons({ fetch: unanswered, defaultTimeoutMs: 1 }).getAll({}));
    expect(Code[error.code]).toBe('DeadlineExceeded');
    const options = { baseUrl: urlOf('slot'), token: staff, defaultTimeoutMs: 1 };
    const versions: number[] = [];
    for await (const { version } of createConnectClient(SlotStoreService, options).watchStore({})) {
      versions.push(version);
      break;
    }
    expect(versions).toHaveLength(1);
  });

  it.each([2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY])(
    'A call over Connect may wait for %d ms, longer than a timer',
    async (timeoutMs) => {
      await openCoupons().getAll({}, { timeoutMs });
      const stores = createConnectClient(SlotStoreService, { baseUrl: urlOf('slot'), token: staff });
      for await (const _version of stores.watchStore({}, { timeoutMs })) break;
    },
  );

  it('A reader that leaves the loop over a stream ends the call', async () => {
    const stores = createConnectClient(SlotStoreService, { baseUrl: urlOf('slot'), token: staff });
    const headers = { 'x-request-id': 'left' };
    for await (const _version of stores.watchStore({}, { headers })) break;
    const ended = () => services.slot.log.filter(({ msg, requestId }) => msg === 'call' && requestId === 'left');
    await expect.poll(() => ended().map(({ code }) => code)).toEqual(['CANCELED']);
  });

  it('The fields that a request was refused for are named', async () => {
    const violations = violationsOf(await failureOf(openCoupons().getUsersMiniInfo({ limit: 51 })));
    expect(violations).toEqual([{ field: 'limit', description: expect.stringContaining('50') }]);
  });
});
