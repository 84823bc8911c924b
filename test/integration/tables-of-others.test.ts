import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService, UserSchema, ValidationRefusal } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError } from '../support/contract.ts';
import { idOf } from '../support/database.ts';
import { newName } from '../support/mutations.ts';
import { runService } from '../support/running-service.ts';
import { scrape } from '../support/scrape.ts';
import { openSlot } from '../support/slot-writes.ts';

const maxInt32 = 2_147_483_647;

const service = runService('coupon');
const { sql } = service;
const coupons = createClient(CouponService, service.staff);
const redemptions = createClient(RedemptionService, service.staff);
const batches = createClient(CouponBatchService, service.staff);

const add = (table: 'users' | 'products') => {
  const [columns, values] = table === 'users' ? ['name, mobile', '$1, $1'] : ['name', '$1'];
  return idOf(sql, `insert into ${table} (${columns}) values (${values}) returning id`, [newName('other')]);
};
const lastId = async (table: string) => {
  const [row] = await sql<{ last: number }>(`select last_value::integer as last from ${table}_id_seq`);
  return row?.last ?? 0;
};

const redeem = (code: string, productId: number, userId = 1) =>
  redemptions.redeem({ code, userId, orderKey: randomUUID(), orderAmount: 100, productIds: [productId] });

describe('What other systems delete', () => {
  it('A coupon for a product that is deleted is still for that product alone', async () => {
    const product = await add('products');
    const couponCode = newName('ONLY').toUpperCase();
    await coupons.create({
      coupon: { couponCode, discountPercent: 10, isApplyForAll: true, applicableProducts: { ids: [product] } },
    });
    expect((await redeem(couponCode, product)).valid).toBe(true);
    await sql('delete from products where id = $1', [product]);
    expect((await redeem(couponCode, 1)).refusal).toBe(ValidationRefusal.NOT_FOR_PRODUCTS);
  });

  it('A coupon that a reserved one for a deleted product becomes is for that product alone', async () => {
    const product = await add('products');
    const secretCode = newName('SECRET').toUpperCase();
    await coupons.createReservedCoupon({
      coupon: { couponCode: secretCode, discountPercent: 10, applicableProducts: { ids: [product] } },
    });
    await sql('delete from products where id = $1', [product]);
    const { coupon } = await redemptions.claim({ secretCode, userId: 1 });
    expect((await redeem(coupon?.couponCode ?? '', 1)).refusal).toBe(ValidationRefusal.NOT_FOR_PRODUCTS);
  });

  it('A coupon for a user who is deleted is for nobody else', async () => {
    const user = await add('users');
    const couponCode = newName('MINE').toUpperCase();
    await coupons.create({
      coupon: { couponCode, discountPercent: 10, isUserBased: true, applicableUsers: { ids: [user] } },
    });
    await sql('delete from users where id = $1', [user]);
    expect((await redeem(couponCode, 1)).refusal).toBe(ValidationRefusal.NOT_FOR_USER);
  });

  it('Links are listed without the record that is gone, GetById shows its id alone, and the etag stays', async () => {
    const [user, product] = [await add('users'), await add('products')];
    const lists = { applicableUsers: { ids: [2, user] }, applicableProducts: { ids: [3, product] } };
    const { coupon } = await coupons.create({ coupon: { flatDiscount: 5, ...lists } });
    const id = coupon?.id ?? 0;
    await sql('delete from users where id = $1', [user]);
    await sql('delete from products where id = $1', [product]);
    const listed = (await coupons.getAll({})).coupons.find((each) => each.id === id);
    expect(listed?.applicableUsers.map((link) => [link.couponId, link.userId, link.user?.name])).toEqual([
      [id, 2, 'User 2'],
      [id, user, undefined],
    ]);
    expect(listed?.applicableUsers[1]?.user).toBeUndefined();
    expect(listed?.applicableProducts.map((link) => [link.couponId, link.productId, link.product?.name])).toEqual([
      [id, 3, 'Product 3'],
      [id, product, undefined],
    ]);
    expect([listed?.applicableUsersCount, listed?.applicableProductsCount]).toEqual([2, 2]);
    const { coupon: detail } = await coupons.getById({ id });
    expect(detail?.applicableUsers.map(({ id: userId, name, mobile }) => [userId, name, mobile])).toEqual([
      [2, 'User 2', '9000000002'],
      [user, undefined, ''],
    ]);
    expect(detail?.applicableProducts).toMatchObject([{ id: 3 }, { id: product, name: '', images: [] }]);
    expect(detail?.etag).toBe(coupon?.etag);
  });

  it('Update takes users and products that are linked already and gone, and no others that are not there', async () => {
    const [user, product] = [await add('users'), await add('products')];
    const lists = { applicableUsers: { ids: [1, user] }, applicableProducts: { ids: [1, product] } };
    const { coupon } = await coupons.create({ coupon: { flatDiscount: 5, ...lists } });
    const id = coupon?.id ?? 0;
    await sql('delete from users where id = $1', [user]);
    await sql('delete from products where id = $1', [product]);
    await coupons.update({ id, updates: { coupon: { ...lists, minOrder: 3 } } });
    const { coupon: kept } = await coupons.getById({ id });
    expect(kept?.applicableUsers.map((each) => each.id)).toEqual([1, user]);
    expect(kept?.applicableProducts.map((each) => each.id)).toEqual([1, product]);
    const { coupon: another } = await coupons.create({ coupon: { flatDiscount: 5 } });
    const missing = (what: 'users' | 'products') =>
      ({
        code: 'InvalidArgument',
        message: `Some applicable ${what} not found`,
        reason: `APPLICABLE_${what.toUpperCase()}_NOT_FOUND`,
      }) as const;
    const update = (of: object) => coupons.update({ id: another?.id ?? 0, updates: { coupon: of } });
    await expectError(update({ applicableUsers: lists.applicableUsers }), missing('users'));
    await expectError(update({ applicableProducts: lists.applicableProducts }), missing('products'));
  });

  it('A secret code that a deleted user redeemed stays redeemed, however it was redeemed', async () => {
    for (const isClaimed of [true, false]) {
      const user = await add('users');
      const secretCode = newName('VOUCHER').toUpperCase();
      await coupons.createReservedCoupon({ coupon: { couponCode: secretCode, flatDiscount: 5 } });
      if (isClaimed) await redemptions.claim({ secretCode, userId: user });
      else await sql('update reserved_coupons set redeemed_by = $1 where secret_code = $2', [user, secretCode]);
      await sql('delete from users where id = $1', [user]);
      await expectError(redemptions.claim({ secretCode, userId: 1 }), 'SECRET_CODE_CLAIMED');
      for (const request of [{ search: secretCode }, { userId: user }]) {
        const [listed] = (await coupons.getReservedCoupons(request)).coupons;
        expect(listed?.redeemedUser).toEqual(create(UserSchema, { id: user }));
      }
    }
  });
});

describe('Ids that other systems took', () => {
  it('CreateCoupon takes the next id that is free, in gaps too, for one caller and for many at once', async () => {
    const last = await lastId('users');
    await sql('insert into users (id, mobile) select $1 + n, $1 + n from generate_series(1, 500) n where n <> 7', [
      last,
    ]);
    await sql('insert into users (id, mobile) values ($1, $2)', [maxInt32, newName('highest')]);
    const userOf = async (mobile: string) => (await coupons.createCoupon({ mobile })).coupon?.userId;
    expect(await userOf('7000000001')).toBe(last + 7);
    const made = await Promise.all(Array.from({ length: 16 }, (_, n) => userOf(`71000000${10 + n}`)));
    expect(made.toSorted((one, two) => (one ?? 0) - (two ?? 0))).toEqual(
      Array.from({ length: 16 }, (_, n) => last + 501 + n),
    );
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('An id of a user or product that was deleted is no free one while links or redemptions name it', async () => {
    const drawNext = async (table: 'users' | 'products', id: number) => {
      await sql(`select setval('${table}_id_seq', $1)`, [id - 1]);
      return add(table);
    };
    const [linked, redeemer] = [await add('users'), await add('users')];
    const product = await add('products');
    await coupons.create({
      coupon: { flatDiscount: 1, applicableUsers: { ids: [linked] }, applicableProducts: { ids: [product] } },
    });
    const secretCode = newName('GONE').toUpperCase();
    await coupons.createReservedCoupon({ coupon: { couponCode: secretCode, flatDiscount: 5 } });
    await sql('update reserved_coupons set redeemed_by = $1 where secret_code = $2', [redeemer, secretCode]);
    await sql('delete from users where id in ($1, $2)', [linked, redeemer]);
    await sql('delete from products where id = $1', [product]);
    expect(await drawNext('users', linked)).toBe(redeemer + 1);
    expect(await drawNext('products', product)).toBe(product + 1);
  });

  it.each([
    ['deleted', (id: number) => `delete from products where id = ${id}`],
    ['deleted with all others', () => 'truncate products'],
    [
      'deleted by replication',
      (id: number) => `set local session_replication_role = replica; delete from products where id = ${id}`,
    ],
  ])('An id that another system chose is no free one after its row was %s', async (_how, end) => {
    const next = (await lastId('products')) + 1;
    await sql('insert into products (id, name) values ($1, $2)', [next, 'Tea']);
    const couponCode = newName('LISTED').toUpperCase();
    await coupons.create({
      coupon: { couponCode, discountPercent: 10, isApplyForAll: true, productIds: { ids: [next] } },
    });
    await sql('begin');
    await sql(end(next));
    expect(await add('products')).toBe(next + 1);
    await sql('rollback');
  });

  it('An id is moved over a long block of taken and freed ones at once, and who may not insert draws none', async () => {
    const last = await lastId('products');
    await sql(`insert into products (id, name) select $1 + n, 'p' from generate_series(1, 5000) n`, [last]);
    await sql('delete from products where id > $1 and id % 2 = 0', [last]);
    const ids = await Promise.all(Array.from({ length: 8 }, () => add('products')));
    expect(new Set(ids).size).toBe(8);
    expect(Math.min(...ids)).toBe(last + 5001);
    await sql('create role reader login; grant select on products to reader');
    try {
      await expect(sql('set session authorization reader; select next_products_id()')).rejects.toThrow(
        'may not insert',
      );
    } finally {
      await sql('reset session authorization; drop owned by reader; drop role reader');
    }
  });

  it('To pass a block of ids, its part of the index is read, and once', async () => {
    const last = await lastId('products');
    await sql('begin');
    await sql(
      `insert into products (id, name) select $1 + n, 'p' from generate_series(1, 20000) as n where n % 500 <> 0`,
      [last],
    );
    await sql('analyze products');
    const [row] = await sql<{ 'QUERY PLAN': readonly [{ Plan: { 'Shared Hit Blocks': number } }] }>(
      `explain (analyze, buffers, format json) insert into products (name) values ('next')`,
    );
    expect(await lastId('products')).toBe(last + 500);
    expect(row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(1_000);
    await sql('rollback');
  });

  it.each(['orders', 'order_statuses', 'products', 'product_groups'])(
    'A row of %s without an id gets the next one that is free',
    async (table) => {
      const order = await sql<{ id: number }>('insert into orders (total_amount) values (1) returning id');
      const [columns, values] = {
        ...{ orders: ['total_amount', '1'], order_statuses: ['order_id', String(order[0]?.id)] },
        ...{ products: ['name', `'New'`], product_groups: ['name', `'New'`] },
      }[table] ?? ['', ''];
      const insert = (id: string) => `insert into ${table} (${id}${columns})`;
      const [{ last } = { last: 0 }] = await sql<{ last: number }>(
        `select last_value::integer + is_called::integer - 1 as last from ${table}_id_seq`,
      );
      await sql(`${insert('id, ')} select $1 + n, ${values} from generate_series(1, 3) n`, [last]);
      expect(await sql(`${insert('')} values (${values}) returning id`)).toEqual([{ id: last + 4 }]);
    },
  );
});

describe('An id', () => {
  /** How far each sequence has come. */
  const drawn = async () =>
    sql('select sequencename, last_value from pg_sequences where schemaname = current_schema()');
  const lists = { applicableUsers: { ids: [1, 2, 3] }, applicableProducts: { ids: [4, 5, 6] } };

  beforeEach(() => {
    service.log.length = 0;
  });

  it('An id of a link stays, and none is drawn, when an update lists the link again', async () => {
    const { coupon } = await coupons.create({ coupon: { flatDiscount: 1, ...lists } });
    const id = coupon?.id ?? 0;
    const linkIds = async () => {
      const listed = (await coupons.getAll({})).coupons.find((each) => each.id === id);
      return [...(listed?.applicableUsers ?? []), ...(listed?.applicableProducts ?? [])].map((link) => link.id);
    };
    const [before, ids] = [await drawn(), await linkIds()];
    await coupons.update({ id, updates: { coupon: { ...lists, minOrder: 3 } } });
    await coupons.update({ id, updates: { coupon: { applicableUsers: { ids: [1, 3] } } } });
    const audited = [{ sequencename: 'audit_entries_id_seq', last_value: expect.anything() }];
    expect(await drawn()).toEqual(
      before.map((row) => (row.sequencename === 'audit_entries_id_seq' ? audited[0] : row)),
    );
    expect(await linkIds()).toEqual(ids.filter((_, n) => n !== 1));
  });

  it('An id is not used up by a call that is refused', async () => {
    const before = await drawn();
    const unknown = { ...lists, applicableUsers: { ids: [1, 999_999] } };
    await expect(coupons.create({ coupon: { flatDiscount: 1, ...unknown } })).rejects.toThrow('Some applicable users');
    await expect(batches.createBatch({ count: 9, coupon: { flatDiscount: 1, ...unknown } })).rejects.toThrow();
    await expect(
      coupons.createReservedCoupon({ coupon: { flatDiscount: 1, applicableProducts: { ids: [9_999] } } }),
    ).rejects.toThrow();
    await expect(coupons.createCoupon({ mobile: '12' })).rejects.toThrow();
    await expect(redemptions.claim({ secretCode: 'NONE', userId: 1 })).rejects.toThrow();
    expect((await redeem('NONE', 1)).valid).toBe(false);
    expect(await drawn()).toEqual(before);
  });

  it('An id of a link is found for ever: behind the last one the numbers begin again', async () => {
    await sql(`select setval('coupon_applicable_users_id_seq', $1)`, [maxInt32 - 1]);
    const { coupon } = await coupons.create({ coupon: { flatDiscount: 1, ...lists } });
    const listed = (await coupons.getAll({})).coupons.find((each) => each.id === coupon?.id);
    expect(listed?.applicableUsers.map((link) => link.id)).toEqual([1, 2, maxInt32]);
  });

  it('An id that is not left is RESOURCE_EXHAUSTED, with a reason of its own and an error in the log', async () => {
    const last = await lastId('coupons');
    await sql(`select setval('coupons_id_seq', $1)`, [maxInt32]);
    try {
      await expectError(coupons.create({ coupon: { flatDiscount: 1 } }), 'IDS_EXHAUSTED');
      expect(service.log).toContainEqual(expect.objectContaining({ level: 'error', reason: 'IDS_EXHAUSTED' }));
      const metrics = await scrape(service.metricsPort);
      expect(metrics.value('sequence_used_ratio{sequence="coupons_id_seq"}')).toBe(1);
      expect(metrics.value('sequence_used_ratio{sequence="coupon_applicable_users_id_seq"}')).toBeUndefined();
    } finally {
      await sql(`select setval('coupons_id_seq', $1)`, [last]);
    }
  });
});

describe('The number of links in a list', () => {
  it('The number of links in a list is exact, whoever changes the links', async () => {
    const made = await Promise.all(
      [0, 1].map(() =>
        coupons.create({
          coupon: { flatDiscount: 1, applicableUsers: { ids: [1, 2] }, applicableProducts: { ids: [1] } },
        }),
      ),
    );
    const [one = 0, two = 0] = made.map(({ coupon }) => coupon?.id);
    const counts = async () => {
      const listed = (await coupons.getAll({ limit: 1_000 })).coupons;
      return [one, two].map((id) => {
        const coupon = listed.find((each) => each.id === id);
        return `${coupon?.applicableUsersCount} users, ${coupon?.applicableProductsCount} products`;
      });
    };
    expect(await counts()).toEqual(['2 users, 1 products', '2 users, 1 products']);
    await sql('insert into coupon_applicable_users (coupon_id, user_id) select $1, n from generate_series(3, 5) n', [
      one,
    ]);
    await sql('insert into coupon_applicable_products (coupon_id, product_id) values ($1, 7), ($2, 7)', [one, two]);
    expect(await counts()).toEqual(['5 users, 2 products', '2 users, 2 products']);
    await sql('update coupon_applicable_users set coupon_id = $2 where coupon_id = $1 and user_id > 3', [one, two]);
    expect(await counts()).toEqual(['3 users, 2 products', '4 users, 2 products']);
    await sql('delete from coupon_applicable_products where product_id = 7');
    expect(await counts()).toEqual(['3 users, 1 products', '4 users, 1 products']);
    await coupons.update({ id: one, updates: { coupon: { applicableUsers: { ids: [] } } } });
    expect(await counts()).toEqual(['0 users, 1 products', '4 users, 1 products']);
    await sql('truncate coupon_applicable_users');
    expect(await counts()).toEqual(['0 users, 1 products', '0 users, 1 products']);
    await sql('delete from coupons where id = $1', [two]);
    expect((await sql('select from coupon_link_counts where coupon_id = $1', [two])).length).toBe(0);
  });
});

describe('An id of a slot', () => {
  const slots = runService('slot');

  it('An id of a slot is not used up by CreateSlot that is refused', async () => {
    const api = createClient(SlotService, slots.staff);
    const request = { ...openSlot(), vendorSnippets: [{ name: 'once', productIds: [1] }] };
    await api.createSlot(request);
    const drawn = () =>
      slots.sql('select sequencename, last_value from pg_sequences where schemaname = current_schema()');
    const before = await drawn();
    await expect(api.createSlot(request)).rejects.toThrow('already exists');
    expect(await drawn()).toEqual(before);
  });
});
