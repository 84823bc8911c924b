import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { type CouponBody, ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { couponContract, expectInvalidField } from '../../support/contract.ts';
import { newName } from '../../support/mutations.ts';
import { newOrder } from '../../support/redemptions.ts';

/** Design 16: when a coupon begins, and how often all users may use it. */
couponContract('Terms', (api) => {
  const redemptions = () => createClient(RedemptionService, api.transportAs('staff'));
  const body = (given: Partial<CouponBody>) => {
    const couponCode = newName('TERMS');
    return { couponCode, discountPercent: 10, isApplyForAll: true, ...given };
  };
  const created = async (given: Partial<CouponBody>) => {
    const { coupon } = await api.staff.create({ coupon: body(given) });
    if (coupon === undefined) throw new Error('no coupon was created');
    return coupon;
  };
  const update = async (id: number, coupon: Partial<CouponBody>) =>
    (await api.staff.update({ id, updates: { coupon } })).coupon;

  it('Validate refuses a coupon until it starts, and then takes it to the letter', async () => {
    const { id, couponCode: code } = await created({ startsAt: '2999-01-01' });
    expect(await api.staff.validate({ code, orderAmount: 99 })).toMatchObject({
      ...{ valid: false, refusal: ValidationRefusal.NOT_STARTED, message: 'Coupon has not started' },
    });
    await update(id, { startsAt: '2020-01-01' });
    expect(await api.staff.validate({ code, orderAmount: 99 })).toMatchObject({ valid: true, discountAmount: 9.9 });
  });

  it('An update keeps terms that it does not give; an empty text clears the start, and 0 the limit', async () => {
    const { id } = await created({ startsAt: '2031-01-01', maxUses: 7 });
    const kept = await update(id, { minOrder: 1 });
    expect(kept?.startsAt && timestampDate(kept.startsAt)).toEqual(new Date('2031-01-01T00:00:00Z'));
    expect(kept?.maxUses).toBe(7);
    const cleared = await update(id, { startsAt: '' });
    expect([cleared?.startsAt, cleared?.maxUses]).toEqual([undefined, 7]);
    expect((await update(id, { maxUses: 0 }))?.maxUses).toBe(0);
  });

  it.each([
    ['starts_at', { startsAt: 'soon' }],
    ['starts_at', { startsAt: '2026-02-31' }],
    ['max_uses', { maxUses: -1 }],
  ])('The type of %s is checked before the rules: %j', async (field, coupon) => {
    await expectInvalidField(api.staff.create({ coupon }), `coupon.${field}`);
    await expectInvalidField(api.staff.createReservedCoupon({ coupon }), `coupon.${field}`);
    await expectInvalidField(api.staff.update({ id: 99_999, updates: { coupon } }), `updates.coupon.${field}`);
  });

  it('A start behind the end is taken: such a coupon has ended', async () => {
    const { couponCode: code } = await created({ startsAt: '2030-01-01', validTill: '2020-01-01' });
    expect((await api.staff.validate({ code, orderAmount: 1 })).refusal).toBe(ValidationRefusal.EXPIRED);
  });

  it('Lists and single records show the terms, those of a coupon without them nothing', async () => {
    const terms = { startsAt: '2031-01-01', maxUses: 7 };
    const [{ id }, { id: plain }] = [await created(terms), await created({})];
    const { reservedCoupon } = await api.staff.createReservedCoupon({ coupon: body(terms) });
    const listed = (await api.staff.getAll({ limit: 2 })).coupons;
    const reserved = (await api.staff.getReservedCoupons({ limit: 1 })).coupons;
    const shown = [(await api.staff.getById({ id })).coupon, listed.find((coupon) => coupon.id === id)];
    for (const record of [...shown, reservedCoupon, reserved[0]]) {
      expect(record?.startsAt && timestampDate(record.startsAt)).toEqual(new Date('2031-01-01T00:00:00Z'));
      expect(record?.maxUses).toBe(7);
    }
    const without = listed.find((coupon) => coupon.id === plain);
    expect([without?.id, without?.startsAt, without?.maxUses]).toEqual([plain, undefined, undefined]);
  });

  it('A secret code may be claimed before it starts, and its coupon starts then', async () => {
    const { reservedCoupon } = await api.staff.createReservedCoupon({ coupon: body({ startsAt: '2999-01-01' }) });
    const secretCode = reservedCoupon?.secretCode ?? '';
    const { coupon } = await redemptions().claim({ secretCode, userId: 1 });
    const code = coupon?.couponCode ?? '';
    expect((await redemptions().redeem({ ...newOrder(), code })).refusal).toBe(ValidationRefusal.NOT_STARTED);
  });

  it('Each code of a batch with one use in all is used once, by whoever comes first', async () => {
    const batches = createClient(CouponBatchService, api.transportAs('staff'));
    const coupon = { discountPercent: 10, isApplyForAll: true, maxUses: 1 };
    const { batch } = await batches.createBatch({ name: 'Newsletter', count: 2, coupon });
    for (const { couponCode: code } of (await batches.getBatch({ id: batch?.id })).coupons) {
      expect((await redemptions().redeem({ ...newOrder(), code, userId: 2 })).valid).toBe(true);
      expect((await redemptions().redeem({ ...newOrder(), code })).refusal).toBe(ValidationRefusal.USED_UP);
    }
  });
});
