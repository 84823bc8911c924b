import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { expectError } from '../support/contract.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { addCoupon } from '../support/mutations.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signToken, type TokenOptions, withToken } from '../support/tokens.ts';

describe('Staff by a claim of the identity provider', () => {
  let service: TestService;
  let transport: ReturnType<typeof createGrpcJsTransport>;
  const as = async (options: TokenOptions) => {
    const authorized = withToken(transport, await signToken(options));
    return { coupons: createClient(CouponService, authorized), audit: createClient(AuditService, authorized) };
  };
  const lastAuthor = async () => {
    const { audit } = await as({ staffId: 1 });
    return (await audit.listEntries({ limit: 1 })).entries[0]?.staffId;
  };
  const withEmail = (email: unknown, claims = {}) => as({ claims: { email, ...claims } });

  beforeAll(async () => {
    service = await startTestService('coupon', ({ auth }) => ({ auth: { ...auth, staffClaim: 'email' } }));
    transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
    await service.database.sql(`update staff_users set external_id = 'ravi@example.com' where id = 2;
      insert into staff_users (id, name, external_id, disabled_at) values (3, 'Gone', 'gone@example.com', now())`);
  });
  afterAll(async () => {
    transport.close();
    await service.stop();
  });

  it('A token without staff_id has the identity of the staff user whose external id the claim is', async () => {
    const { coupons } = await withEmail('ravi@example.com');
    const { coupon } = await coupons.create({ coupon: { flatDiscount: 5, isApplyForAll: true } });
    expect(coupon?.createdBy).toBe(2);
    expect(await lastAuthor()).toBe(2);
  });

  it('A change by a procedure that does not ask for staff has its author, too, whatever this replica knows', async () => {
    const id = await addCoupon(service.database.sql);
    await service.database.sql(
      `insert into staff_users (id, name, external_id) values (4, 'Meena', 'meena@example.com')`,
    );
    const { coupons } = await withEmail('meena@example.com');
    await coupons.delete({ id });
    expect(await lastAuthor()).toBe(4);
  });

  it('staff_id goes before the claim', async () => {
    const { coupons } = await as({ staffId: 1, claims: { email: 'ravi@example.com' } });
    const { coupon } = await coupons.create({ coupon: { flatDiscount: 5, isApplyForAll: true } });
    expect(coupon?.createdBy).toBe(1);
  });

  it.each([
    ['nobody@example.com', {}],
    ['gone@example.com', {}],
    ['RAVI@example.com', {}],
    ['ravi@example.com', { email_verified: false }],
    ['ravi@example.com', { email_verified: 'false' }],
    ['ravi@example.com', { email_verified: null }],
    [['ravi@example.com'], {}],
    ['', {}],
    [undefined, {}],
  ])('The claim %j (%j) names no staff user', async (email, claims) => {
    const { coupons } = await withEmail(email, claims);
    await expectError(coupons.create({ coupon: { flatDiscount: 5, isApplyForAll: true } }), 'UNAUTHORIZED');
  });

  it('A verified address is taken', async () => {
    const { coupons } = await withEmail('ravi@example.com', { email_verified: true });
    await expect(coupons.create({ coupon: { flatDiscount: 5, isApplyForAll: true } })).resolves.toBeDefined();
  });
});

it('Without AUTH_STAFF_CLAIM no claim but staff_id names a staff user', async () => {
  const service = await startTestService('coupon');
  await service.database.sql(`update staff_users set external_id = 'tester' where id = 2`);
  const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  const coupons = createClient(CouponService, withToken(transport, await signToken({})));
  await expectError(coupons.create({ coupon: { flatDiscount: 5, isApplyForAll: true } }), 'UNAUTHORIZED');
  transport.close();
  await service.stop();
});
