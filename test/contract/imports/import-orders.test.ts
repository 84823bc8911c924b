import { createClient } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { ImportOutcome } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { expectInvalidField, failureOf, importContract } from '../../support/contract.ts';
import { holding, whileHeld } from '../../support/locks.ts';

const { CREATED, CHANGED, UNCHANGED } = ImportOutcome;

importContract('ImportOrders', (api) => {
  const orders = () =>
    api.sql(`select external_id, user_id, total_amount, (select count(*)::integer from order_statuses where order_id = orders.id) as statuses
      from orders order by external_id`);
  const outcomesOf = async (rows: Parameters<typeof api.staff.importOrders>[0]['orders']) =>
    (await api.staff.importOrders({ orders: rows ?? [] })).results.map(({ outcome }) => outcome);
  const lastEntry = async () => {
    const audit = createClient(AuditService, api.transportAs('staff'));
    const [entry] = (await audit.listEntries({ resourceType: 'order', limit: 1 })).entries;
    return { before: entry?.before, after: entry?.after };
  };

  beforeAll(() => api.sql(`update users set external_id = 'u-' || id`));
  beforeEach(() => api.sql('delete from orders'));

  it('Orders are created with their user and a status, changed, and left as they are', async () => {
    const first = { externalId: 'o-1', userExternalId: 'u-2', totalAmount: '100.50' };
    expect(await outcomesOf([first, { externalId: 'o-2', totalAmount: '0' }])).toEqual([CREATED, CREATED]);
    expect(await outcomesOf([{ ...first, totalAmount: '100.5' }])).toEqual([UNCHANGED]);
    expect(await outcomesOf([{ ...first, userExternalId: '' }])).toEqual([CHANGED]);
    expect(await lastEntry()).toEqual({ before: { userId: 2 }, after: {} });
    expect(await orders()).toEqual([
      { external_id: 'o-1', user_id: null, total_amount: '100.50', statuses: 1 },
      { external_id: 'o-2', user_id: null, total_amount: '0', statuses: 1 },
    ]);
  });

  it('An order without a status gets one, which is a change', async () => {
    const [order] = await api.sql<{ id: number }>(
      `insert into orders (external_id, total_amount) values ('o-1', 5) returning id`,
    );
    const row = { externalId: 'o-1', totalAmount: '5' };
    expect(await outcomesOf([row])).toEqual([CHANGED]);
    expect(await lastEntry()).toEqual({ before: {}, after: { orderStatus: { orderId: order?.id } } });
    expect(await outcomesOf([row])).toEqual([UNCHANGED]);
    expect(await orders()).toMatchObject([{ statuses: 1 }]);
  });

  it('An order is taken while another system takes the next id of its status', async () => {
    const [order] = await api.sql<{ id: number }>('insert into orders (total_amount) values (5) returning id');
    const [next] = await api.sql<{ id: number }>(`select nextval('order_statuses_id_seq')::integer + 1 as id`);
    const taken = `insert into order_statuses (id, order_id) values (${next?.id}, ${order?.id})`;
    const row = { externalId: 'o-1', totalAmount: '5' };
    expect(await whileHeld(api.databaseUrl, taken, () => outcomesOf([row]))).toEqual([CREATED]);
    expect(await orders()).toMatchObject([{ statuses: 1 }, { statuses: 1 }]);
  });

  it('An order that stays with its user waits neither for that user nor for who refers to the order', async () => {
    const row = { externalId: 'o-1', userExternalId: 'u-2', totalAmount: '5' };
    await outcomesOf([row]);
    const whileLocked = (statement: string, totalAmount: string) =>
      holding(api.databaseUrl, statement, () => outcomesOf([{ ...row, totalAmount }]));
    const lockUser = 'select from users where id = 2 for update';
    expect(await whileLocked(lockUser, '5')).toEqual([UNCHANGED]);
    expect(await whileLocked(lockUser, '6')).toEqual([CHANGED]);
    expect(await whileLocked('select from orders for key share', '7')).toEqual([CHANGED]);
  });

  it('An amount that can’t be taken is refused with one that can', async () => {
    const error = await failureOf(api.staff.importOrders({ orders: [{ externalId: 'o-1', totalAmount: '1250,50' }] }));
    expect(error.rawMessage).toBe('orders[0].total_amount: must be an amount such as 1250.50');
  });

  it.each([
    [{ externalId: 'o-2', userExternalId: 'nobody', totalAmount: '1' }, 'user_external_id'],
    [{ externalId: 'o-2', totalAmount: '-1' }, 'total_amount'],
    [{ externalId: 'o-2', totalAmount: '' }, 'total_amount'],
    [{ externalId: 'o-2', totalAmount: '1e3' }, 'total_amount'],
    [{ externalId: 'o-2', totalAmount: '1,5' }, 'total_amount'],
    [{ externalId: 'o-2', totalAmount: 'NaN' }, 'total_amount'],
    [{ externalId: 'o-1', totalAmount: '1' }, 'external_id'],
  ])('A row that can’t be taken names its field, and none is written: %#', async (row, field) => {
    const rows = [{ externalId: 'o-1', totalAmount: '1' }, row];
    await expectInvalidField(api.staff.importOrders({ orders: rows }), `orders[1].${field}`);
    expect(await orders()).toEqual([]);
  });
});
