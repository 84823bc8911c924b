import { createClient } from '@connectrpc/connect';
import { beforeEach, expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { ImportOutcome } from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { BadRequestSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';
import { expectError, expectInvalidField, failureOf, importContract } from '../../support/contract.ts';
import { holding } from '../../support/locks.ts';

const { CREATED, CHANGED, UNCHANGED } = ImportOutcome;

importContract('ImportUsers', (api) => {
  const users = () =>
    api.sql('select external_id, name, email, mobile from users where external_id is not null order by 1');
  const outcomesOf = async (rows: Parameters<typeof api.staff.importUsers>[0]['users']) =>
    (await api.staff.importUsers({ users: rows ?? [] })).results.map(({ outcome }) => outcome);
  const entries = async () => {
    const audit = createClient(AuditService, api.transportAs('staff'));
    return (await audit.listEntries({ resourceType: 'user', limit: 1000 })).entries.toReversed();
  };
  const asha = { externalId: 'u-1', name: 'Asha', email: 'asha@example.com', mobile: '9111111111' };

  beforeEach(() => api.sql('delete from users where id > 5; update users set external_id = null'));

  it('Rows are created, changed or left as they are, and answered in the order asked', async () => {
    expect(await outcomesOf([{ externalId: 'u-2' }, asha])).toEqual([CREATED, CREATED]);
    const { results } = await api.staff.importUsers({
      users: [{ externalId: 'u-3' }, asha, { externalId: 'u-2', name: 'Ravi' }],
    });
    expect(results.map(({ externalId, outcome }) => [externalId, outcome])).toEqual([
      ['u-3', CREATED],
      ['u-1', UNCHANGED],
      ['u-2', CHANGED],
    ]);
    const ids = await api.sql<{ id: number }>(
      'select id from users where external_id is not null order by external_id',
    );
    expect(results.map(({ id }) => id)).toEqual([ids[2]?.id, ids[0]?.id, ids[1]?.id]);
    expect(await users()).toEqual([
      { external_id: 'u-1', name: 'Asha', email: 'asha@example.com', mobile: '9111111111' },
      { external_id: 'u-2', name: 'Ravi', email: null, mobile: null },
      { external_id: 'u-3', name: null, email: null, mobile: null },
    ]);
  });

  it('Each row that was written is an entry of the fields that differ, and the others are none', async () => {
    await api.staff.importUsers({ users: [asha, { externalId: 'u-2' }] });
    const before = (await entries()).length;
    const { results } = await api.staff.importUsers({ users: [{ ...asha, name: '' }, { externalId: 'u-2' }] });
    const written = (await entries()).slice(before);
    expect(
      written.map(({ resourceId, procedure, before: had, after }) => ({ resourceId, procedure, had, after })),
    ).toEqual([
      {
        resourceId: results[0]?.id,
        procedure: 'catalog.v1.ImportService/ImportUsers',
        had: { name: 'Asha' },
        after: {},
      },
    ]);
  });

  it('The import of unchanged rows writes nothing', async () => {
    const rows = [asha, { externalId: 'u-2' }];
    await api.staff.importUsers({ users: rows });
    const states = () => api.sql('select id, xmin::text from users order by id');
    const [before, counted] = [await states(), (await entries()).length];
    expect(await outcomesOf(rows)).toEqual([UNCHANGED, UNCHANGED]);
    expect(await states()).toEqual(before);
    expect(await entries()).toHaveLength(counted);
  });

  it('A user without an external id who has the mobile number becomes the new one', async () => {
    const { results } = await api.staff.importUsers({
      users: [{ externalId: 'u-1', name: 'User 1', mobile: '9000000001' }],
    });
    expect(results).toMatchObject([{ id: 1, outcome: CHANGED }]);
    expect(await users()).toEqual([{ external_id: 'u-1', name: 'User 1', email: null, mobile: '9000000001' }]);
  });

  it.each([
    ['of a user with another external id', [{ externalId: 'u-2', mobile: '9111111111' }], 0],
    [
      'of a user without an external id, for a known external id',
      [asha, { externalId: 'u-9', mobile: '9000000001' }],
      1,
    ],
    [
      'that stands twice in a call',
      [asha, { externalId: 'u-3', mobile: '97' }, { externalId: 'u-4', mobile: '97' }],
      2,
    ],
    [
      'that a user whose own number is taken would give up',
      [asha, { externalId: 'u-2', mobile: '9111111112' }, { externalId: 'u-3', mobile: '9111111112' }],
      2,
    ],
    [
      'of a user of the call who gets none, since that one is taken,',
      [
        { externalId: 'u-2', mobile: '9111111111' },
        { ...asha, mobile: '9000000001' },
      ],
      0,
    ],
  ])('A mobile number %s is taken, and nothing is written', async (_what, rows, index) => {
    await api.staff.importUsers({ users: [asha, { externalId: 'u-9' }] });
    const before = await users();
    const error = await failureOf(api.staff.importUsers({ users: rows }));
    await expectError(Promise.reject(error), 'MOBILE_TAKEN');
    const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
    expect(violations.map(({ field }) => field)).toEqual([`users[${index}].mobile`]);
    expect(await users()).toEqual(before);
  });

  it.each([
    ['are swapped', { a: '2', b: '1', c: '3' }],
    ['are passed on from a user who gets none', { a: '', b: '1', c: '3' }],
    ['are passed on in a chain', { a: '2', b: '3', c: '4' }],
    ['go round', { a: '2', b: '3', c: '1' }],
    ['are passed on to a new user', { a: '4', b: '2', c: '3', d: '1' }],
  ])(
    'Numbers that %s in a call are judged as they are afterwards, whatever the order of rows',
    async (_how, wanted) => {
      const usersOf = (mobiles: Readonly<Record<string, string>>) =>
        Object.entries(mobiles).map(([externalId, mobile]) => ({ externalId, mobile }));
      const had: Readonly<Record<string, string>> = { a: '1', b: '2', c: '3' };
      for (const rows of [usersOf(wanted), usersOf(wanted).toReversed()]) {
        await api.sql('delete from users where external_id is not null');
        await api.staff.importUsers({ users: usersOf(had) });
        const counted = (await entries()).length;
        const { results } = await api.staff.importUsers({ users: rows });
        expect(await api.sql('select external_id, mobile from users where external_id is not null order by 1')).toEqual(
          usersOf(wanted).map(({ externalId, mobile }) => ({ external_id: externalId, mobile: mobile || null })),
        );
        const written = (await entries()).slice(counted);
        const of = (id: number) => written.filter(({ resourceId }) => resourceId === id);
        for (const [index, { externalId, mobile }] of rows.entries()) {
          const id = results[index]?.id ?? 0;
          const before = had[externalId];
          expect(of(id).map((entry) => [entry.before?.mobile, entry.after?.mobile])).toEqual(
            mobile === before ? [] : [[before, mobile || undefined]],
          );
        }
        expect(await outcomesOf(rows)).toEqual(rows.map(() => UNCHANGED));
      }
    },
  );

  it.each([
    ['u 1', 'has white space'],
    ['u-é', 'must have 1 to 128 visible ASCII characters'],
    ['', 'must have 1 to 128 visible ASCII characters'],
  ])('An external id like %j is refused in words', async (externalId, reason) => {
    const error = await failureOf(api.staff.importUsers({ users: [{ externalId }] }));
    expect(error.rawMessage).toBe(`users[0].external_id: ${reason}`);
  });

  it.each([
    [[{ externalId: '' }], 'users[0].external_id'],
    [[asha, { externalId: 'with space' }], 'users[1].external_id'],
    [[{ externalId: 'x'.repeat(129) }], 'users[0].external_id'],
    [[{ externalId: 'é' }], 'users[0].external_id'],
    [[asha, { externalId: 'u-2', mobile: '9.19877E+11' }], 'users[1].mobile'],
    [[{ externalId: 'u-2', mobile: ' 9,19877e+11' }], 'users[0].mobile'],
    [[{ externalId: 'u-2', name: 'é'.repeat(601) }], 'users[0].name'],
    [[{ externalId: 'u-2', name: 'a\0' }], 'users[0].name'],
    [[{ externalId: 'u-2' }, asha, { externalId: 'u-2' }], 'users[2].external_id'],
    [[], 'users'],
    [Array.from({ length: 1_001 }, (_none, n) => ({ externalId: `${n}` })), 'users'],
  ])('A row that can’t be taken names its field: %#', async (rows, field) => {
    await expectInvalidField(api.staff.importUsers({ users: rows }), field);
    expect(await users()).toEqual([]);
  });

  it('Longest names are taken, as far as all have 100,000 characters', async () => {
    const rowOf = (_none: unknown, n: number) => ({
      externalId: `${n}`.padEnd(128, '-'),
      name: Array.from({ length: 300 }, () => String.fromCodePoint(0x20000 + Math.floor(Math.random() * 40_000))).join(
        '',
      ),
      mobile: `${n}`.padEnd(200, `${Math.random()}`),
    });
    const { results } = await api.staff.importUsers({ users: Array.from({ length: 125 }, rowOf) });
    expect(results.filter(({ outcome }) => outcome === CREATED)).toHaveLength(125);
    await expectInvalidField(api.staff.importUsers({ users: Array.from({ length: 126 }, rowOf) }), 'users');
  });

  it('Many calls at once with the same new users make each user once', async () => {
    const rows = Array.from({ length: 50 }, (_none, n) => ({ externalId: `c-${n}`, mobile: `95${n}` }));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_none, n) => outcomesOf(n % 2 ? rows : rows.toReversed())),
    );
    expect(outcomes.flat().filter((outcome) => outcome === CREATED)).toHaveLength(50);
    expect(outcomes.flat().filter((outcome) => outcome === UNCHANGED)).toHaveLength(350);
  });

  it.each([
    ['users', (n: number) => ({ externalId: `d-${n}` }), 'importUsers'],
    ['products', (n: number) => ({ externalId: `d-${n}` }), 'importProducts'],
  ] as const)('Two calls with the same new %s in opposite orders both succeed', async (list, row, procedure) => {
    const rows = Array.from({ length: 1_000 }, (_none, n) => row(n));
    const calls = [rows, rows.toReversed()].map((given) => api.staff[procedure]({ [list]: given }));
    const outcomes = (await Promise.all(calls)).flatMap(({ results }) => results.map(({ outcome }) => outcome));
    expect(outcomes.filter((outcome) => outcome === CREATED)).toHaveLength(1_000);
  });

  it.each([
    ['products', 'importProducts'],
    ['product_groups', 'importProductGroups'],
  ] as const)('An id of %s that another system takes at that moment is stepped over', async (table, procedure) => {
    await api.staff[procedure]({ products: [{ externalId: 'before' }], groups: [{ externalId: 'before' }] });
    const [last] = await api.sql<{ id: number }>(`select max(id) as id from ${table}`);
    await holding(
      api.databaseUrl,
      `insert into ${table} (id, name) values (${(last?.id ?? 0) + 1}, 'x')`,
      async (lock) => {
        const importing = api.staff[procedure]({
          products: [{ externalId: 'after' }],
          groups: [{ externalId: 'after' }],
        });
        await lock.untilAwaited();
        await lock.release('commit');
        expect((await importing).results).toMatchObject([{ outcome: CREATED }]);
      },
    );
  });

  it('A user without a mobile number is found by name, and listed with an empty number', async () => {
    const { results } = await api.staff.importUsers({ users: [{ externalId: 'u-7', name: 'Nobody’s Number' }] });
    const catalog = createClient(CatalogService, api.transportAs('staff'));
    const { users: listed } = await catalog.getUsers({ userIds: [results[0]?.id ?? 0] });
    expect(listed).toMatchObject([{ name: 'Nobody’s Number', mobile: '' }]);
  });
});
