import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectError, expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { addCouponOf, type CouponColumns, entriesOf, letRunOut, newOrder } from '../../support/redemptions.ts';

const { HELD, USED, RELEASED, EXPIRED } = RedemptionState;

redemptionContract('Redeem', (api) => {
  const coupon = (given?: CouponColumns) => addCouponOf(api.sql, given);
  const hold = (code: string, order: object = {}) => api.guest.redeem({ code, ...newOrder(), ...order });
  const redemptions = () => api.sql('select * from redemptions order by id');

  it('A use is held for 900 seconds, for a caller without a staff identity', async () => {
    const { id, code } = await coupon({ max_value: 15 });
    const order = newOrder();
    const answer = await api.guest.redeem({ code: ` ${code}`.trim().toLowerCase(), ...order });
    expect(answer).toMatchObject({ valid: true, discountAmount: 15 });
    expect(answer.refusal).toBeUndefined();
    expect(answer.message).toBeUndefined();
    const { redemption } = answer;
    expect(redemption).toMatchObject({
      ...{ couponId: id, userId: 1, orderKey: order.orderKey, orderAmount: '200', discountAmount: '15', state: HELD },
    });
    if (redemption?.heldUntil === undefined || redemption.createdAt === undefined) throw new Error('a time is missing');
    expect(timestampDate(redemption.heldUntil).getTime() - timestampDate(redemption.createdAt).getTime()).toBe(900_000);
    expect(redemption.usedAt).toBeUndefined();
    expect(redemption.releasedAt).toBeUndefined();
    expect(await entriesOf(api, 'redemption', redemption.id)).toEqual([
      {
        procedure: 'coupon.v1.RedemptionService/Redeem',
        before: undefined,
        after: {
          ...{ couponId: id, userId: 1, orderKey: order.orderKey, orderAmount: '200', discountAmount: '15' },
          state: 'REDEMPTION_STATE_HELD',
          createdAt: timestampDate(redemption.createdAt).toISOString().replace('.000Z', 'Z'),
          heldUntil: timestampDate(redemption.heldUntil).toISOString().replace('.000Z', 'Z'),
        },
      },
    ]);
  });

  it('A hold of 0 seconds uses the coupon at once', async () => {
    const { code } = await coupon();
    const { redemption } = await hold(code, { holdSeconds: 0 });
    expect(redemption?.state).toBe(USED);
    expect(redemption?.heldUntil).toBeUndefined();
    expect(redemption?.usedAt).toEqual(redemption?.createdAt);
  });

  it.each([
    [{ discount_percent: 33.3 }, 0.1, '0.0333', 0.0333],
    [{ discount_percent: 12.5, max_value: 1.25 }, 100, '1.25', 1.25],
    [{ discount_percent: 10, flat_discount: 7 }, 1e21, '100000000000000000000', 1e20],
    [{ discount_percent: null, flat_discount: 7.5 }, 8, '7.5', 7.5],
    [{ discount_percent: null, flat_discount: 7.5 }, 2, '2', 2],
    [{ discount_percent: 120 }, 2, '2', 2],
    [{ discount_percent: 0.1 }, 0, '0', 0],
  ])('The discount of %j for %f is stored exactly', async (given, orderAmount, exact, discountAmount) => {
    const { code } = await coupon(given);
    const answer = await hold(code, { orderAmount });
    expect(answer.discountAmount).toBe(discountAmount);
    expect(answer.redemption?.discountAmount).toBe(exact);
  });

  it('An unknown user is an error, before anything about the code', async () => {
    await expectError(hold('', { userId: 999 }), 'USER_NOT_FOUND');
    await expectError(hold('NO-SUCH-CODE', { userId: 999 }), 'USER_NOT_FOUND');
  });

  it.each<[string, CouponColumns, object, keyof typeof ValidationRefusal, object]>([
    ['expired', { valid_till: '2020-01-01Z' }, {}, 'EXPIRED', { message: 'Coupon has expired' }],
    ['invalidated', { is_invalidated: true }, {}, 'NOT_FOUND', { message: 'Coupon not found or invalidated' }],
    ['not started', { starts_at: '2999-01-01Z' }, {}, 'NOT_STARTED', { message: 'Coupon has not started' }],
    ['for nobody', { is_apply_for_all: false }, {}, 'NOT_AVAILABLE', { message: 'Coupon is not available for use' }],
    [
      'below its minimum',
      { min_order: 250.5 },
      { orderAmount: 250 },
      'BELOW_MINIMUM',
      { message: 'Minimum order amount is 250.5', minOrder: '250.5' },
    ],
    [
      'for other users',
      { is_apply_for_all: false, is_user_based: true },
      {},
      'NOT_FOR_USER',
      { message: 'Coupon is not available for this user' },
    ],
    [
      'for other products',
      { product_ids: [7, 8] },
      { productIds: [6, 9] },
      'NOT_FOR_PRODUCTS',
      { message: 'Coupon does not apply to these products' },
    ],
  ])('A coupon that is %s is refused, and nothing is written', async (_name, given, order, refusal, expected) => {
    const { code } = await coupon(given);
    const before = await redemptions();
    const answer = await hold(code, order);
    expect(answer).toMatchObject({ valid: false, refusal: ValidationRefusal[refusal], ...expected });
    expect(answer.redemption).toBeUndefined();
    expect(answer.discountAmount).toBeUndefined();
    expect(await redemptions()).toEqual(before);
  });

  it('The codes of no coupon are refused as by Validate', async () => {
    expect(await hold('')).toMatchObject({
      ...{ valid: false, refusal: ValidationRefusal.CODE_EMPTY, message: 'Invalid coupon code' },
    });
    expect(await hold('NO-SUCH-CODE')).toMatchObject({
      ...{ valid: false, refusal: ValidationRefusal.NOT_FOUND, message: 'Coupon not found or invalidated' },
    });
  });

  it('The rules come in their order: those of Validate, the user, the products, the order, the limits', async () => {
    const terms = { is_apply_for_all: false, product_ids: [7], max_limit_for_user: 1, max_uses: 1 };
    const { id, code } = await coupon({ ...terms, valid_till: '2020-01-01Z', starts_at: '2999-01-01Z' });
    const [order, first] = [newOrder(), newOrder()];
    const refusalOf = async () => (await hold(code, order)).refusal;
    await api.sql(
      'insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at) values ($1, 1, $2, 1, 1, $3, now())',
      [id, first.orderKey, 'USED'],
    );
    expect(await refusalOf()).toBe(ValidationRefusal.EXPIRED);
    await api.sql('update coupons set valid_till = null where id = $1', [id]);
    expect(await refusalOf()).toBe(ValidationRefusal.NOT_STARTED);
    await api.sql('update coupons set starts_at = now() where id = $1', [id]);
    expect(await refusalOf()).toBe(ValidationRefusal.NOT_AVAILABLE);
    await api.sql('update coupons set is_user_based = true where id = $1', [id]);
    expect(await refusalOf()).toBe(ValidationRefusal.NOT_FOR_USER);
    await api.sql('insert into coupon_applicable_users (coupon_id, user_id) values ($1, 1)', [id]);
    expect(await refusalOf()).toBe(ValidationRefusal.NOT_FOR_PRODUCTS);
    await api.sql('insert into coupon_applicable_products (coupon_id, product_id) values ($1, 9)', [id]);
    const exclusive = await coupon({ exclusive_apply: true });
    await hold(exclusive.code, order);
    const productIds = [5, 9];
    expect(await hold(code, { ...order, productIds })).toMatchObject({
      ...{ refusal: ValidationRefusal.EXCLUSIVE, message: "Coupon can't be combined" },
    });
    expect(await hold(code, { productIds })).toMatchObject({
      ...{ refusal: ValidationRefusal.LIMIT_REACHED, message: 'Coupon limit reached' },
    });
    await api.sql('update coupons set max_limit_for_user = 2 where id = $1', [id]);
    expect(await hold(code, { productIds })).toMatchObject({
      ...{ refusal: ValidationRefusal.USED_UP, message: 'Coupon has been used up' },
    });
    await api.sql('update coupons set max_uses = 2 where id = $1', [id]);
    expect(await hold(code, { productIds })).toMatchObject({ valid: true });
  });

  it.each<[CouponColumns, number[]]>([
    [{ product_ids: [7, 8] }, [8]],
    [{ product_ids: [] }, []],
    [{}, [1]],
  ])('A coupon %j applies to an order of the products %j', async (given, productIds) => {
    const { code } = await coupon(given);
    expect((await hold(code, { productIds })).valid).toBe(true);
  });

  it.each<[string, CouponColumns, readonly object[], number]>([
    [
      'of its products',
      { product_ids: [7, 8] },
      [
        { productId: 7, amount: 30 },
        { productId: 9, amount: 100 },
      ],
      3,
    ],
    [
      'of all lines of a product',
      { product_ids: [7] },
      [
        { productId: 7, amount: 30 },
        { productId: 7, amount: 0.1 },
      ],
      3.01,
    ],
    ['of a product by its external id', { product_ids: [7] }, [{ productExternalId: 'SKU-7', amount: 50 }], 5],
    [
      'at most of the lines',
      { product_ids: [7], discount_percent: null, flat_discount: 40 },
      [{ productId: 7, amount: 25 }],
      25,
    ],
    ['of the order, for a coupon for all products', {}, [{ productId: 7, amount: 30 }], 20],
    ['of lines that are more than the order', { product_ids: [7] }, [{ productId: 7, amount: 1500 }], 150],
  ])('The discount is computed %s', async (_what, given, lines, discountAmount) => {
    await api.sql(`update products set external_id = 'SKU-7' where id = 7`);
    const { code } = await coupon(given);
    expect(await hold(code, { lines })).toMatchObject({ valid: true, discountAmount });
  });

  it('A coupon that is limited by links has its discount of the lines with these products', async () => {
    const { id, code } = await coupon();
    await api.sql('insert into coupon_applicable_products (coupon_id, product_id) values ($1, 9)', [id]);
    const lines = [
      { productId: 9, amount: 10 },
      { productId: 8, amount: 90 },
    ];
    expect(await hold(code, { lines })).toMatchObject({ valid: true, discountAmount: 1 });
  });

  it.each([
    [
      [
        { productId: 7, amount: 10 },
        { productExternalId: 'SKU-9', amount: 20 },
      ],
    ],
    [
      [
        { productExternalId: 'SKU-9', amount: 20 },
        { productId: 7, amount: 10 },
      ],
    ],
  ])('Lines may name their products in both ways: %j', async (lines) => {
    await api.sql(`update products set external_id = 'SKU-9' where id = 9`);
    const { code } = await coupon({ product_ids: [7, 9] });
    expect(await hold(code, { lines })).toMatchObject({ valid: true, discountAmount: 3 });
  });

  it('Lines without a product of the coupon are refused, as is one of an external id that is not known', async () => {
    const { code } = await coupon({ product_ids: [7] });
    for (const line of [{ productId: 8 }, { productExternalId: 'no such product' }]) {
      const answer = await hold(code, { lines: [{ ...line, amount: 10 }] });
      expect(answer).toMatchObject({ valid: false, refusal: ValidationRefusal.NOT_FOR_PRODUCTS });
    }
  });

  it("The minimum is one of the order's amount, whatever the lines come to", async () => {
    const { code } = await coupon({ product_ids: [7], min_order: 150 });
    const lines = [{ productId: 7, amount: 100 }];
    expect(await hold(code, { lines })).toMatchObject({ valid: true, discountAmount: 10 });
    expect((await hold(code, { lines: [{ productId: 7, amount: 1000 }], orderAmount: 149 })).refusal).toBe(
      ValidationRefusal.BELOW_MINIMUM,
    );
  });

  it('A held coupon is judged anew for its order, and keeps its id', async () => {
    const { code } = await coupon({ max_limit_for_user: 1, exclusive_apply: true });
    const order = newOrder();
    const first = (await hold(code, order)).redemption;
    const again = await hold(code, { ...order, orderAmount: 310, holdSeconds: 60 });
    expect(again).toMatchObject({ valid: true, discountAmount: 31 });
    expect(again.redemption).toMatchObject({
      ...{ id: first?.id, createdAt: first?.createdAt, orderAmount: '310', state: HELD },
    });
    expect(again.redemption?.heldUntil).not.toEqual(first?.heldUntil);
    const used = await hold(code, { ...order, orderAmount: 320, holdSeconds: 0 });
    expect(used.redemption).toMatchObject({ id: first?.id, orderAmount: '320', discountAmount: '32', state: USED });
    const entries = await entriesOf(api, 'redemption', first?.id);
    expect(entries.slice(1)).toMatchObject([
      { before: { orderAmount: '200', discountAmount: '20' }, after: { orderAmount: '310', discountAmount: '31' } },
      {
        before: { orderAmount: '310', discountAmount: '31', state: 'REDEMPTION_STATE_HELD' },
        after: { orderAmount: '320', discountAmount: '32', state: 'REDEMPTION_STATE_USED' },
      },
    ]);
    expect(entries[1]?.after).not.toHaveProperty('state');
    expect(entries[2]?.after).not.toHaveProperty('heldUntil');
  });

  it('A held coupon that is refused for a changed order keeps what it had', async () => {
    const { code } = await coupon({ min_order: 100 });
    const order = newOrder();
    const { redemption } = await hold(code, order);
    const refused = await hold(code, { ...order, orderAmount: 99 });
    expect(refused).toMatchObject({ valid: false, refusal: ValidationRefusal.BELOW_MINIMUM, redemption });
    expect(refused.discountAmount).toBeUndefined();
    expect(await entriesOf(api, 'redemption', redemption?.id)).toHaveLength(1);
  });

  it('A used coupon is given as it is, whatever became of it, and nothing changes', async () => {
    const { id, code } = await coupon();
    const order = { ...newOrder(), holdSeconds: 0 };
    const first = await hold(code, order);
    await api.sql('update coupons set is_invalidated = true, min_order = 9999 where id = $1', [id]);
    const before = await redemptions();
    expect(await hold(code, { ...order, orderAmount: 1 })).toEqual(first);
    expect(await redemptions()).toEqual(before);
    expect(await entriesOf(api, 'redemption', first.redemption?.id)).toHaveLength(1);
  });

  it.each([0, 900])(
    "Another user's order is an error, whatever became of the coupon: a hold of %d s",
    async (holdSeconds) => {
      const { id, code } = await coupon();
      const order = { ...newOrder(), holdSeconds };
      await hold(code, order);
      await api.sql('update coupons set is_invalidated = true where id = $1', [id]);
      await expectError(hold(code, { ...order, userId: 2 }), 'ORDER_KEY_TAKEN');
    },
  );

  it('After a release or a hold that has run out, the order redeems anew, for whichever user', async () => {
    const { code } = await coupon({ max_limit_for_user: 1 });
    const order = newOrder();
    const first = (await hold(code, order)).redemption;
    await api.guest.release({ redemptionId: first?.id });
    const second = (await hold(code, { ...order, userId: 2 })).redemption;
    expect(second).toMatchObject({ userId: 2, state: HELD });
    await letRunOut(api.sql, second?.id);
    const third = (await hold(code, order)).redemption;
    expect(new Set([first?.id, second?.id, third?.id]).size).toBe(3);
    const { redemptions: listed } = await api.staff.listRedemptions({ orderKey: order.orderKey });
    expect(listed.map(({ state }) => state)).toEqual([HELD, EXPIRED, RELEASED]);
  });

  it('A limit counts the live redemptions of one user, over all orders', async () => {
    const { code } = await coupon({ max_limit_for_user: 2 });
    const held = (await hold(code)).redemption;
    const used = (await hold(code, { holdSeconds: 0 })).redemption;
    const refusal = async () => (await hold(code)).refusal;
    expect(await refusal()).toBe(ValidationRefusal.LIMIT_REACHED);
    expect((await hold(code, { userId: 2 })).valid).toBe(true);
    await letRunOut(api.sql, held?.id);
    expect((await hold(code)).valid).toBe(true);
    expect(await refusal()).toBe(ValidationRefusal.LIMIT_REACHED);
    await api.guest.release({ redemptionId: used?.id });
    expect((await hold(code)).valid).toBe(true);
    expect(await refusal()).toBe(ValidationRefusal.LIMIT_REACHED);
  });

  it('A limit of all uses counts the live redemptions of all users, but not the order that holds one already', async () => {
    const { id, code } = await coupon({ max_uses: 2 });
    const order = newOrder();
    const held = (await hold(code, order)).redemption;
    const used = (await hold(code, { userId: 2, holdSeconds: 0 })).redemption;
    const refusal = async () => (await hold(code, { userId: 2 })).refusal;
    expect(await refusal()).toBe(ValidationRefusal.USED_UP);
    expect((await hold(code, { ...order, orderAmount: 300 })).redemption).toMatchObject({ id: held?.id });
    await letRunOut(api.sql, held?.id);
    const again = (await hold(code)).redemption;
    expect(again?.state).toBe(HELD);
    await expectError(api.guest.confirm({ redemptionId: held?.id }), 'HOLD_EXPIRED');
    await api.sql(`update redemptions set state = 'EXPIRED' where id = $1`, [held?.id]);
    expect(await refusal()).toBe(ValidationRefusal.USED_UP);
    await api.guest.release({ redemptionId: used?.id });
    expect((await api.guest.confirm({ redemptionId: held?.id })).redemption?.state).toBe(USED);
    expect(await refusal()).toBe(ValidationRefusal.USED_UP);
    await api.sql('update coupons set max_uses = 1 where id = $1', [id]);
    expect((await api.guest.confirm({ redemptionId: again?.id })).redemption?.state).toBe(USED);
  });

  it('The largest limits permit an order as often as it asks', async () => {
    const { code } = await coupon({ max_uses: 2_147_483_647, max_limit_for_user: 2_147_483_647 });
    const order = newOrder();
    for (const holdSeconds of [900, 900, 0, 0]) expect((await hold(code, { ...order, holdSeconds })).valid).toBe(true);
    expect(await api.guest.check({ code, ...order })).toMatchObject({
      usesLeft: 2_147_483_647,
      usesLeftForUser: 2_147_483_647,
    });
  });

  it('A redemption that somebody deletes gives its use back', async () => {
    const { id, code } = await coupon({ max_uses: 1 });
    expect((await hold(code, { holdSeconds: 0 })).valid).toBe(true);
    expect((await hold(code)).refusal).toBe(ValidationRefusal.USED_UP);
    await api.sql('delete from redemptions where coupon_id = $1', [id]);
    expect((await hold(code)).valid).toBe(true);
    expect((await hold(code)).refusal).toBe(ValidationRefusal.USED_UP);
    await api.sql('truncate redemptions');
    expect((await hold(code)).valid).toBe(true);
  });

  it('An empty code is refused, also where another system has stored one', async () => {
    await api.sql(
      `insert into coupons (coupon_code, flat_discount, is_apply_for_all, created_by) values ('', 1, true, 1)`,
    );
    expect((await hold('')).refusal).toBe(ValidationRefusal.CODE_EMPTY);
    expect((await api.guest.check({ code: '' })).conditions).toMatchObject([
      { condition: ValidationRefusal.CODE_EMPTY },
    ]);
    await api.sql(`delete from coupons where coupon_code = ''`);
  });

  it('Sixty-four users use a coupon exactly as often as all of them may', async () => {
    const { code } = await coupon({ max_uses: 20 });
    const users = Array.from({ length: 64 }, (_user, at) => 1_001 + at);
    await api.sql(`insert into users (id, name, mobile) select id, 'user', id from unnest($1::integer[]) as id`, [
      users,
    ]);
    const ends = await Promise.all(users.map((userId) => hold(code, { userId, holdSeconds: (userId % 3) * 900 })));
    expect(ends.filter(({ valid }) => valid)).toHaveLength(20);
    expect(new Set(ends.filter(({ valid }) => !valid).map(({ refusal }) => refusal))).toEqual(
      new Set([ValidationRefusal.USED_UP]),
    );
  });

  it.each<CouponColumns>([{}, { max_limit_for_user: 0 }, { max_uses: 0 }])(
    'A coupon %j has no limit',
    async (given) => {
      const { code } = await coupon(given);
      for (let order = 0; order < 3; order += 1) expect((await hold(code)).valid).toBe(true);
    },
  );

  it('A limit that is set or lowered later counts what is live already', async () => {
    const { id, code } = await coupon();
    const held = [await hold(code), await hold(code), await hold(code)];
    const limitTo = (limit: number) => api.sql('update coupons set max_limit_for_user = $2 where id = $1', [id, limit]);
    await limitTo(3);
    expect((await hold(code)).refusal).toBe(ValidationRefusal.LIMIT_REACHED);
    await limitTo(4);
    expect((await hold(code)).valid).toBe(true);
    await limitTo(3);
    await api.guest.release({ redemptionId: held[0]?.redemption?.id });
    expect((await hold(code)).refusal).toBe(ValidationRefusal.LIMIT_REACHED);
    await api.guest.release({ redemptionId: held[1]?.redemption?.id });
    expect((await hold(code)).valid).toBe(true);
  });

  it.each([
    [true, false],
    [false, true],
  ])('Of two coupons of an order none may be exclusive: %s, then %s', async (first, second) => {
    const [one, two] = [await coupon({ exclusive_apply: first }), await coupon({ exclusive_apply: second })];
    const order = newOrder();
    const { redemption } = await hold(one.code, order);
    expect((await hold(two.code, order)).refusal).toBe(ValidationRefusal.EXCLUSIVE);
    expect((await hold(one.code, order)).valid).toBe(true);
    await letRunOut(api.sql, redemption?.id);
    expect((await hold(two.code, order)).valid).toBe(true);
  });

  it('Coupons that are not exclusive are combined', async () => {
    const order = newOrder();
    expect((await hold((await coupon()).code, order)).valid).toBe(true);
    expect((await hold((await coupon()).code, order)).valid).toBe(true);
  });

  it.each([
    [{ orderKey: '' }, 'order_key'],
    [{ orderKey: 'a b' }, 'order_key'],
    [{ orderKey: 'é' }, 'order_key'],
    [{ orderKey: 'x'.repeat(129) }, 'order_key'],
    [{ orderAmount: -0.01 }, 'order_amount'],
    [{ orderAmount: Number.NaN }, 'order_amount'],
    [{ orderAmount: Number.POSITIVE_INFINITY }, 'order_amount'],
    [{ holdSeconds: -1 }, 'hold_seconds'],
    [{ holdSeconds: 86_401 }, 'hold_seconds'],
    [{ userId: undefined }, 'user_id'],
    [{ productIds: Array.from({ length: 10_001 }, (_id, index) => index) }, 'product_ids'],
    [{ lines: Array.from({ length: 10_001 }, () => ({ productId: 1, amount: 1 })) }, 'lines'],
    [{ lines: [{ productId: 1, amount: 1 }], productIds: [1] }, 'lines'],
    [{ lines: [{ productId: 1 }, { amount: 1 }] }, 'lines[1].product_id'],
    [{ lines: [{ productId: 1, productExternalId: 'one', amount: 1 }] }, 'lines[0].product_external_id'],
    [{ lines: [{ productId: 1, amount: -1 }] }, 'lines[0].amount'],
    [{ lines: [{ productId: 1, amount: Number.POSITIVE_INFINITY }] }, 'lines[0].amount'],
  ])('%# is refused: %s is out of bounds', async (wrong, field) => {
    await expectInvalidField(hold('CODE', wrong), field);
  });

  it('An order key of 128 visible characters, a hold of a day and an order of 0 are within bounds', async () => {
    const { code } = await coupon();
    const orderKey = `!~"'\\${'k'.repeat(123)}`;
    const answer = await hold(code, { orderKey, holdSeconds: 86_400, orderAmount: 0 });
    expect(answer.redemption).toMatchObject({ orderKey, orderAmount: '0', discountAmount: '0' });
  });
});
