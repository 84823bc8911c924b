import { expect, it } from 'vitest';
import { couponContract, expectError } from '../../support/contract.ts';
import { idOf } from '../../support/database.ts';
import type { ExpectedReason } from '../../support/expected-errors.ts';
import { holding, whileHeld } from '../../support/locks.ts';
import { newName } from '../../support/mutations.ts';
import { signToken } from '../../support/tokens.ts';

couponContract('Coupon writes', (api) => {
  const tables = [
    ...['coupons', 'coupon_applicable_users', 'coupon_applicable_products', 'order_statuses', 'users'],
    ...['reserved_coupons', 'reserved_coupon_applicable_products'],
  ];
  const everything = () => Promise.all(tables.map((table) => api.sql(`select * from ${table} order by id`)));
  const held = <Result>(sql: string, call: () => Promise<Result>) => whileHeld(api.databaseUrl, sql, call);
  const insertCoupon = (code: string) => `insert into coupons (coupon_code, created_by) values ('${code}', 1)`;
  const addUser = (mobile: string, name: string | null = null) =>
    idOf(api.sql, 'insert into users (mobile, name) values ($1, $2) returning id', [mobile, name]);
  const addOrder = async (userId: number) => {
    const [order] = await api.sql<{ id: number }>(
      'insert into orders (user_id, total_amount) values ($1, 10) returning id',
      [userId],
    );
    await api.sql('insert into order_statuses (order_id) values ($1)', [order?.id]);
    return order?.id ?? 0;
  };
  const addProduct = () => idOf(api.sql, `insert into products (name) values ('New') returning id`);
  const links = { applicableUsers: { ids: [1] }, applicableProducts: { ids: [1] } };

  const terms = { flatDiscount: 1, couponCode: 'HELD', ...links };
  it.each<[string, ExpectedReason, hold: string, call: (id: number) => Promise<unknown>]>([
    ['Create', 'COUPON_CODE_TAKEN', insertCoupon('HELD'), () => api.staff.create({ coupon: terms })],
    [
      'Update',
      'COUPON_CODE_TAKEN',
      insertCoupon('HELD'),
      (id) => api.staff.update({ id, updates: { coupon: { ...terms, applicableUsers: { ids: [2] } } } }),
    ],
    [
      'CreateReservedCoupon',
      'SECRET_CODE_TAKEN',
      `insert into reserved_coupons (secret_code, coupon_code, created_by) values ('HELD', 'X', 1)`,
      () => api.staff.createReservedCoupon({ coupon: terms }),
    ],
  ])(
    '%s refuses a code that another transaction takes meanwhile, and writes nothing',
    async (_rpc, reason, hold, call) => {
      const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1, ...links } });
      const before = await everything();
      await expectError(
        held(hold, () => call(coupon?.id ?? 0)),
        reason,
      );
      await api.sql(
        `delete from coupons where coupon_code = 'HELD'; delete from reserved_coupons where secret_code = 'HELD'`,
      );
      expect(await everything()).toEqual(before);
    },
  );

  it('Update replaces also the links that another transaction writes meanwhile', async () => {
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1, ...links } });
    const id = coupon?.id ?? 0;
    const others = `update coupons set etag = default where id = ${id};
      insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 5);
      insert into coupon_applicable_products (coupon_id, product_id) values (${id}, 5)`;
    const lists = { applicableUsers: { ids: [2] }, applicableProducts: { ids: [3] } };
    await held(others, () => api.staff.update({ id, updates: { coupon: lists } }));
    const { coupon: updated } = await api.staff.getById({ id });
    expect(updated?.applicableUsers.map((user) => user.id)).toEqual([2]);
    expect(updated?.applicableProducts.map((product) => product.id)).toEqual([3]);
  });

  it('Two updates that swap codes at once do not deadlock', async () => {
    for (let round = 0; round < 5; round += 1) {
      const codes = [`LEFT-${round}`, `RIGHT-${round}`];
      const ids: number[] = [];
      for (const couponCode of codes) {
        ids.push((await api.staff.create({ coupon: { flatDiscount: 1, couponCode } })).coupon?.id ?? 0);
      }
      const swap = ids.map((id, n) =>
        api.staff.update({ id, updates: { coupon: { couponCode: codes[1 - n] ?? '' } } }),
      );
      for (const call of await Promise.allSettled(swap)) {
        if (call.status === 'rejected') await expectError(Promise.reject(call.reason), 'COUPON_CODE_TAKEN');
        expect(call.status).toBe('rejected');
      }
    }
  });

  it('An update that gives a coupon another code, or its own, waits for no lock of all callers', async () => {
    const couponCode = newName('OWN');
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1, couponCode } });
    const id = coupon?.id ?? 0;
    await holding(api.databaseUrl, `select pg_advisory_xact_lock(hashtext('coupon_code'))`, async () => {
      await api.staff.update({ id, updates: { coupon: { couponCode, minOrder: 1 } } });
      // It loses a race.
      await held(`update coupons set min_order = 3 where id = ${id}`, () =>
        api.staff.update({ id, updates: { coupon: { couponCode, maxValue: 1 } } }),
      );
      await api.staff.update({ id, updates: { coupon: { couponCode: newName('OTHER') } } });
    });
  });

  it('Create and Update wait for no transaction that changes or deletes a linked user or product', async () => {
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1 } });
    const [user, product] = [await addUser(`81${Date.now()}`), await addProduct()];
    const lists = { applicableUsers: { ids: [1, user] }, applicableProducts: { ids: [1, product] } };
    const deletes = `delete from users where id = ${user}; delete from products where id = ${product}`;
    await holding(api.databaseUrl, deletes, async ({ release }) => {
      await api.staff.create({ coupon: { flatDiscount: 1, ...lists } });
      await api.staff.update({ id: coupon?.id ?? 0, updates: { coupon: lists } });
      await release('commit');
    });
    const { coupon: kept } = await api.staff.getById({ id: coupon?.id ?? 0 });
    expect(kept?.applicableUsers.map(({ id }) => id)).toEqual([1, user]);
    expect(kept?.applicableProducts.map(({ id }) => id)).toEqual([1, product]);
  });

  it('GenerateCancellationCoupon makes the code from the user as stored when it writes', async () => {
    const user = await addUser('5550000001', 'Before');
    const orderId = await addOrder(user);
    const change = `update users set name = 'After', mobile = '5550000002' where id = ${user}`;
    const { coupon } = await held(change, () => api.staff.generateCancellationCoupon({ orderId }));
    expect(coupon?.couponCode).toBe(`AFT${orderId}`);
    expect(await api.sql('select 1 from coupons where coupon_code = $1', [`BEF${orderId}`])).toEqual([]);
  });

  it.each([
    ['order', 'Order not found', 'ORDER_NOT_FOUND'],
    ['user', 'User not found for this order', 'ORDER_USER_NOT_FOUND'],
  ])(
    'GenerateCancellationCoupon finds no %s that another transaction deletes meanwhile',
    async (what, message, reason) => {
      const userId = await addUser(`82${Date.now()}`);
      const orderId = await addOrder(userId);
      const [coupons, users] = await everything();
      const goes = `delete from ${what}s where id = ${what === 'order' ? orderId : userId}`;
      const call = held(goes, () => api.staff.generateCancellationCoupon({ orderId }));
      await expectError(call, { code: 'NotFound', message, reason });
      expect((await everything()).slice(0, 2)).toEqual([coupons, users]);
    },
  );

  it('GenerateCancellationCoupon keeps what another transaction changes of the order status meanwhile', async () => {
    const orderId = await addOrder(1);
    const change = `update order_statuses set is_cancelled = true where order_id = ${orderId}`;
    const { coupon } = await held(change, () => api.staff.generateCancellationCoupon({ orderId }));
    const status = 'select is_cancelled, refund_coupon_id from order_statuses where order_id = $1';
    expect(await api.sql(status, [orderId])).toEqual([{ is_cancelled: true, refund_coupon_id: coupon?.id }]);
  });

  it('CreateCoupon takes the user that another transaction creates meanwhile, or creates one when that is undone', async () => {
    const insert = (mobile: string) => `insert into users (mobile) values ('${mobile}')`;
    const create = (mobile: string) => () => api.staff.createCoupon({ mobile });
    const userOf = (mobile: string) => api.sql<{ id: number }>('select id from users where mobile = $1', [mobile]);
    const shared = await held(insert('6660000001'), create('6660000001'));
    expect(await userOf('6660000001')).toEqual([{ id: shared.coupon?.userId }]);
    const own = await whileHeld(api.databaseUrl, insert('6660000002'), create('6660000002'), 'rollback');
    expect(await userOf('6660000002')).toEqual([{ id: own.coupon?.userId }]);
    const again = await held(
      `delete from coupon_applicable_users where user_id = ${own.coupon?.userId};
      delete from users where id = ${own.coupon?.userId}`,
      create('6660000002'),
    );
    expect(await userOf('6660000002')).toEqual([{ id: again.coupon?.userId }]);
    expect(again.coupon?.userId).not.toBe(own.coupon?.userId);
  });

  it('A violation of another unique index fails as INTERNAL and leaves nothing behind', async () => {
    const orderId = await addOrder(4);
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 1 } });
    await api.sql(`
      update coupons set max_limit_for_user = null;
      create unique index one_of_a_kind on coupons (max_limit_for_user) where max_limit_for_user = 1;
      create unique index one_of_a_kind_too on reserved_coupons (max_limit_for_user) where max_limit_for_user = 1`);
    const terms = () => ({ flatDiscount: 1, maxLimitForUser: 1, couponCode: `KIND-${Math.random()}`, ...links });
    try {
      await api.staff.create({ coupon: terms() });
      await api.staff.createReservedCoupon({ coupon: terms() });
      const before = await everything();
      for (const call of [
        () => api.staff.create({ coupon: terms() }),
        () => api.staff.createReservedCoupon({ coupon: terms() }),
        () => api.staff.createCoupon({ mobile: '6660000003' }),
        () => api.staff.generateCancellationCoupon({ orderId }),
        () => api.staff.update({ id: coupon?.id ?? 0, updates: { coupon: { ...terms(), flatDiscount: 9 } } }),
      ]) {
        await expectError(call(), 'INTERNAL');
      }
      expect(await everything()).toEqual(before);
    } finally {
      await api.sql('drop index one_of_a_kind; drop index one_of_a_kind_too');
    }
  });

  it('A staff user who was just deleted is refused before codes and products are checked', async () => {
    const [{ id: staffId } = { id: 0 }] = await api.sql<{ id: number }>(
      `insert into staff_users (name) values ('Leaver') returning id`,
    );
    const leaver = api.as(await signToken({ staffId }));
    const { coupon } = await leaver.create({ coupon: { flatDiscount: 1, couponCode: `LEFT-${staffId}` } });
    await leaver.createReservedCoupon({ coupon: { flatDiscount: 1, couponCode: `LEFT-${staffId}` } });
    await api.sql('delete from coupons where id = $1', [coupon?.id]);
    await api.sql('delete from reserved_coupons where created_by = $1', [staffId]);
    await api.sql('delete from staff_users where id = $1', [staffId]);
    await api.sql(insertCoupon(`LEFT-${staffId}`));
    const orderId = await addOrder(1);
    const before = await everything();
    const body = { flatDiscount: 1, couponCode: `LEFT-${staffId}`, applicableProducts: { ids: [999] } };
    for (const call of [
      () => leaver.create({ coupon: body }),
      () => leaver.createReservedCoupon({ coupon: body }),
      () => leaver.createCoupon({ mobile: '6660000004' }),
      () => leaver.generateCancellationCoupon({ orderId }),
    ]) {
      await expectError(call(), 'UNAUTHORIZED');
    }
    expect(await everything()).toEqual(before);
  });

  it('An update keeps what another writer has changed meanwhile without a new etag', async () => {
    const id = await idOf(api.sql, `${insertCoupon(newName('KEPT'))} returning id`);
    const written = await held(`update coupons set is_invalidated = true where id = ${id}`, () =>
      api.staff.update({ id, updates: { coupon: { minOrder: 5 } } }),
    );
    expect(written.coupon?.isInvalidated).toBe(true);
    const blamed = `select after from audit_entries
      where resource_type = 'coupon' and resource_id = $1 and after -> 'isInvalidated' is not null`;
    expect(await api.sql(blamed, [id])).toEqual([]);
  });
});
