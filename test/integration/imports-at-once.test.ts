import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { ImportOutcome, ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { runProgram } from '../support/processes.ts';
import { runService } from '../support/running-service.ts';
import { startTestService } from '../support/service.ts';
import { signToken, withToken } from '../support/tokens.ts';

const { CREATED, CHANGED, UNCHANGED } = ImportOutcome;
const callers = 64;

/** Returns the items in an order of the turn's own. */
function shuffled<Item>(items: readonly Item[], turn: number): Item[] {
  return items
    .map((item, index) => ({ item, at: ((index + 1) * (turn * 2 + 7919)) % 104_729 }))
    .sort((left, right) => left.at - right.at)
    .map(({ item }) => item);
}

describe('Imports at once', () => {
  const service = runService('slot');
  const { sql } = service;
  const clientOf = (turn: number) => createClient(ImportService, service.as({ staffId: 1, subject: `caller-${turn}` }));
  const turns = Array.from({ length: callers }, (_none, turn) => turn);
  const rowsOf = (kind: string, count = 40) => Array.from({ length: count }, (_none, n) => `${kind}-${n}`);
  const outcomes = (answers: readonly { results: readonly { outcome: ImportOutcome }[] }[]) => {
    const all = answers.flatMap(({ results }) => results.map(({ outcome }) => outcome));
    return Object.fromEntries(
      [CREATED, CHANGED, UNCHANGED].map((each) => [ImportOutcome[each], all.filter((one) => one === each).length]),
    );
  };

  it('64 callers import the same new users in orders of their own: each is made once', async () => {
    const users = rowsOf('new').map((externalId, n) => ({ externalId, mobile: `91${n}` }));
    const answers = await Promise.all(
      turns.map((turn) => clientOf(turn).importUsers({ users: shuffled(users, turn) })),
    );
    expect(outcomes(answers)).toEqual({ CREATED: 40, CHANGED: 0, UNCHANGED: 40 * 63 });
  });

  it('64 callers change the same users, products and orders in orders of their own, and all succeed', async () => {
    const ids = rowsOf('same');
    const [one] = turns.map(clientOf);
    await one?.importUsers({ users: ids.map((externalId) => ({ externalId })) });
    await one?.importProducts({ products: ids.map((externalId) => ({ externalId })) });
    await one?.importOrders({ orders: ids.map((externalId) => ({ externalId, totalAmount: '0' })) });
    await sql('delete from order_statuses');
    const answers = await Promise.all(
      turns.map((turn) => {
        const rows = shuffled(ids, turn).map((externalId) => ({ externalId, name: `name-${turn}` }));
        if (turn % 3 === 0) return clientOf(turn).importUsers({ users: rows });
        if (turn % 3 === 1) return clientOf(turn).importProducts({ products: rows });
        const orders = rows.map(({ externalId }) => ({
          externalId,
          userExternalId: externalId,
          totalAmount: `${turn}`,
        }));
        return clientOf(turn).importOrders({ orders });
      }),
    );
    expect(outcomes(answers)).toEqual({ CREATED: 0, CHANGED: 40 * 64, UNCHANGED: 0 });
    const [counted] = await sql(`select
      (select count(distinct name)::integer from users where external_id like 'same-%') as users,
      (select count(distinct name)::integer from products where external_id like 'same-%') as products,
      (select count(distinct total_amount)::integer from orders) as amounts,
      (select count(*)::integer from order_statuses) as statuses`);
    expect(counted).toEqual({ users: 1, products: 1, amounts: 1, statuses: 40 });
  });

  it('Callers turn the numbers of the same users round, while others import the orders of these', async () => {
    const ids = rowsOf('turned');
    const usersOf = (turn: number) =>
      ids.map((externalId, n) => ({ externalId, mobile: `92${(n + turn) % ids.length}` }));
    await clientOf(0).importUsers({ users: usersOf(0) });
    await Promise.all(
      turns.map((turn) =>
        turn % 2
          ? clientOf(turn).importUsers({ users: shuffled(usersOf(turn), turn) })
          : clientOf(turn).importOrders({
              orders: shuffled(ids, turn).map((id) => ({
                ...{ externalId: `${turn}-${id}`, userExternalId: id, totalAmount: '1' },
              })),
            }),
      ),
    );
    const numbers = await sql<{ mobile: string }>(`select mobile from users where external_id like 'turned-%'`);
    expect(new Set(numbers.map(({ mobile }) => mobile)).size).toBe(ids.length);
  });

  it('Beside CreateCoupon for the same new numbers, and the command, each number has one user', async () => {
    const coupons = await startTestService('coupon', undefined, service.database);
    const folder = await mkdtemp(path.join(tmpdir(), 'imports-at-once-'));
    try {
      const users = rowsOf('called').map((externalId, n) => ({ externalId, mobile: `${9_300_000_000 + n}` }));
      const file = path.join(folder, 'users.csv');
      await writeFile(
        file,
        ['external_id,mobile', ...users.map((user) => `${user.externalId},${user.mobile}`)].join('\n'),
      );
      const transport = createGrpcJsTransport(`127.0.0.1:${coupons.grpcPort}`);
      const api = createClient(CouponService, withToken(transport, await signToken({ staffId: 1 })));
      const command = runProgram('services/slot-service/import-command/import-main.ts', ['users', file], {
        DATABASE_URL: service.database.url,
      });
      const calls = turns.slice(0, 24).map((turn) => clientOf(turn).importUsers({ users: shuffled(users, turn) }));
      const made = users.map(({ mobile }) => api.createCoupon({ mobile }));
      await Promise.all([...calls, ...made]);
      expect(await command).toMatchObject({ code: 0, stderr: '' });
      const [counted] = await sql(`select count(*)::integer as users, count(external_id)::integer as imported
        from users where mobile like '93000000%'`);
      expect(counted).toEqual({ users: 40, imported: 40 });
    } finally {
      await coupons.stop(0);
      await rm(folder, { recursive: true });
    }
  });
});
