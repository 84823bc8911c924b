import { type Client, createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { couponContract, expectInvalidField, slotContract } from '../../support/contract.ts';
import { readPages } from '../../support/pages.ts';
import { asServiceRole } from '../../support/postgres.ts';
import { runProgram } from '../../support/processes.ts';

/**
 * Entries of every resource, `n` seconds before 2030: two subjects, two staff users and one caller without, two procedures. The
 * ids of the resources are 1 to 3.
 */
const fixture = `
  insert into audit_entries (at, procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
  select timestamptz '2030-01-01Z' - n * interval '1 second', case when n % 3 = 0 then 'p/One' else 'p/Two' end,
    case when n % 2 = 0 then 'anna' else repeat('b', 3000) end, nullif(n % 3, 0), 'request-' || n, type, 1 + n % 3,
    case when n % 4 <> 0 then '{"isActive": true}'::jsonb end, '{"isActive": false}'
  from generate_series(1, 40) as n, unnest(array['slot', 'coupon', 'reserved_coupon', 'user']) as type`;
const ids = (entries: readonly { readonly requestId: string }[]) =>
  entries.map(({ requestId }) => Number(requestId.slice(8)));
const upTo = (count: number, isWanted: (n: number) => boolean = () => true) =>
  Array.from({ length: count }, (_, index) => index + 1).filter(isWanted);

slotContract('ListEntries', (api) => {
  let client: Client<typeof AuditService> | undefined;
  /** The client of a service that has the entries. */
  const audit = async () => {
    if (client === undefined) await api.sql(fixture);
    client ??= createClient(AuditService, api.transportAs('staff'));
    return client;
  };

  it('The entries of slots are listed, newest first, as they were written', async () => {
    const { entries, nextPageToken } = await (await audit()).listEntries({});
    expect(ids(entries)).toEqual(upTo(40));
    expect(nextPageToken).toBe('');
    expect(entries.every(({ resourceType }) => resourceType === 'slot')).toBe(true);
    expect(entries[0]).toMatchObject({
      ...{ procedure: 'p/Two', subject: 'b'.repeat(3000), staffId: 1, requestId: 'request-1', resourceId: 2 },
      ...{ before: { isActive: true }, after: { isActive: false }, at: { seconds: 1893455999n, nanos: 0 } },
    });
    expect(entries[3]?.before).toBeUndefined();
    expect(entries[2]?.staffId).toBeUndefined();
  });

  it.each<[string, object, (n: number) => boolean]>([
    ['resource_type', { resourceType: 'slot' }, () => true],
    ['resource_type of the other service', { resourceType: 'coupon' }, () => false],
    ['resource_id', { resourceId: 2 }, (n) => n % 3 === 1],
    ['staff_id', { staffId: 2 }, (n) => n % 3 === 2],
    ['staff_id 0', { staffId: 0 }, () => false],
    ['subject', { subject: 'anna' }, (n) => n % 2 === 0],
    ['a long subject', { subject: 'b'.repeat(3000) }, (n) => n % 2 === 1],
    ['procedure', { procedure: 'p/One' }, (n) => n % 3 === 0],
    ['since, which is included', { since: '2029-12-31T23:59:50Z' }, (n) => n <= 10],
    ['until, which is not', { until: '2029-12-31T23:59:50Z' }, (n) => n > 10],
    [
      'all filters',
      {
        ...{ resourceType: 'slot', resourceId: 2, staffId: 1, subject: 'anna', procedure: 'p/Two' },
        ...{ since: '2029-12-31T23:59:40Z', until: '2029-12-31T23:59:55Z' },
      },
      (n) => n % 6 === 4 && n > 5 && n <= 20,
    ],
    [
      'empty texts, which are no filters',
      { resourceType: '', subject: '', procedure: '', since: '', until: '' },
      () => true,
    ],
  ])('Entries are filtered by %s', async (_name, filters, isWanted) => {
    const { entries } = await (await audit()).listEntries(filters);
    expect(ids(entries)).toEqual(upTo(40, isWanted));
  });

  it.each([1, 7, 20, 40])('Pages of %d entries show each entry once', async (limit) => {
    const client = await audit();
    const pages = await readPages((pageToken) => client.listEntries({ limit, pageToken, procedure: 'p/Two' }));
    for (const { entries } of pages) expect(entries.length).toBeLessThanOrEqual(limit);
    const seen = pages.flatMap(({ entries }) => ids(entries));
    expect(seen).toEqual(upTo(40, (n) => n % 3 !== 0));
  });

  it('Entries of the same time are paged by their ids', async () => {
    await api.sql(`insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, after)
      select '2020-01-01Z', 'same', 'same', 'request-' || n, 'slot', 1, '{}' from generate_series(1, 9) n`);
    const client = await audit();
    const pages = await readPages((pageToken) => client.listEntries({ limit: 2, pageToken, subject: 'same' }));
    expect(pages.flatMap(({ entries }) => ids(entries))).toEqual(upTo(9).toReversed());
  });

  it('A page ends before its limit where its changes are large, and the next one goes on', async () => {
    await api.sql(`insert into audit_entries (
        at, procedure, subject, request_id, resource_type, resource_id, after, shown_bytes
      )
      select '2020-01-01Z', 'large', 'large', 'request-' || n, 'slot', 1, after, octet_length(after::text)
      from generate_series(1, 3) n, lateral (
        select jsonb_build_object('productIds', jsonb_agg(i)) as after from generate_series(100000, 300000) i
      ) as change`);
    const first = await (await audit()).listEntries({ procedure: 'large' });
    expect(ids(first.entries)).toEqual([3, 2]);
    const second = await (await audit()).listEntries({ procedure: 'large', pageToken: first.nextPageToken });
    expect([ids(second.entries), second.nextPageToken]).toEqual([[1], '']);
  });

  it('A recovery of the database is listed by slot-service, with the time since which changes may be missing', async () => {
    const client = await audit();
    const { stdout } = await runProgram('shared/audit/recovered-main.ts', [], { DATABASE_URL: api.databaseUrl });
    const { entries } = await client.listEntries({ resourceType: 'database' });
    expect(entries).toMatchObject([
      {
        ...{ procedure: 'recovered', subject: 'operator', requestId: '', resourceType: 'database', resourceId: 0 },
        after: { missingSince: '2029-12-31T23:59:59Z' },
      },
    ]);
    expect(stdout).toMatch(/^changes may be missing from 2029-12-31T23:59:59Z to 20[\d-]+T[\d:.]+Z\n$/);
    expect((await client.listEntries({ limit: 1_000 })).entries).toContainEqual(entries[0]);
  });

  it('The command that tells of a recovery refuses the role of the services, which can’t skip ids', async () => {
    const env = { DATABASE_URL: asServiceRole(api.databaseUrl) };
    const { code, stderr } = await runProgram('shared/audit/recovered-main.ts', [], env);
    expect([code, stderr]).toEqual([1, 'recovered: DATABASE_URL must name the role that owns the schema\n']);
  });

  it('A limit of 0 is an empty page', async () => {
    expect(await (await audit()).listEntries({ limit: 0 })).toMatchObject({ entries: [], nextPageToken: '' });
  });

  it.each([
    [{ limit: 1001 }, 'limit'],
    [{ limit: -1 }, 'limit'],
    [{ resourceType: 'orders' }, 'resource_type'],
    [{ since: 'yesterday' }, 'since'],
    [{ until: '2026-02-31' }, 'until'],
    [{ pageToken: 'garbled' }, 'page_token'],
  ])('ListEntries refuses %j', async (request, field) => {
    await expectInvalidField((await audit()).listEntries(request), field);
  });

  it('A page token of other filters is refused', async () => {
    const { nextPageToken: pageToken } = await (await audit()).listEntries({ limit: 1, subject: 'anna' });
    await expectInvalidField((await audit()).listEntries({ limit: 1, pageToken }), 'page_token');
  });
});

couponContract('ListEntries', (api) => {
  it('The coupon service lists the entries of its three resources, and no slots', async () => {
    await api.sql(fixture);
    const client = createClient(AuditService, api.transportAs('staff'));
    const { entries } = await client.listEntries({ limit: 1000 });
    expect(entries).toHaveLength(120);
    for (const resourceType of ['coupon', 'reserved_coupon', 'user']) {
      const { entries: ofType } = await client.listEntries({ resourceType, resourceId: 1 });
      expect(ids(ofType)).toEqual(upTo(40, (n) => n % 3 === 0));
    }
    expect((await client.listEntries({ resourceType: 'slot' })).entries).toEqual([]);
  });
});
