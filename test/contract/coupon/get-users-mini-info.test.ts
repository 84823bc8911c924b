import { beforeAll, describe, expect, it } from 'vitest';
import { couponContract, expectInvalidField } from '../../support/contract.ts';

couponContract('GetUsersMiniInfo', (api) => {
  beforeAll(async () => {
    await api.sql(`insert into users (id, name, mobile) values
      (11, 'Zoya', '8100000011'), (12, 'Bina_10%', '8100000012'), (13, '', '8100000013'), (14, null, '8100000014'),
      (15, 'Zoya', '8100000015'), (16, 'back\\slash', '8100000016'), (17, 'Bina 100', '8100000017')`);
    await api.sql(`insert into users (name, mobile) select 'Row ' || n, '6' || lpad(n::text, 9, '0')
      from generate_series(1, 60) n`);
  });
  const ids = async (request: Parameters<typeof api.staff.getUsersMiniInfo>[0]) =>
    (await api.guest.getUsersMiniInfo(request)).users.map((user) => user.id);

  it('Users are ordered by name, then id; those without a name come last', async () => {
    expect(await ids({ search: '81000000' })).toEqual([16, 17, 12, 11, 15, 13, 14]);
    const { users } = await api.staff.getUsersMiniInfo({ search: '810000001', limit: 50 });
    expect(users.slice(-2)).toMatchObject([
      { id: 13, name: 'Unknown', mobile: '8100000013' },
      { id: 14, name: 'Unknown', mobile: '8100000014' },
    ]);
    expect(users.find(({ id }) => id === 11)).toMatchObject({ id: 11, name: 'Zoya', mobile: '8100000011' });
  });

  it('Without limit and offset, the first 20 users are listed', async () => {
    const all = [...(await ids({ limit: 50 })), ...(await ids({ limit: 50, offset: 50 }))];
    expect(new Set(all).size).toBe(72);
    expect(await ids({})).toEqual(all.slice(0, 20));
    expect(await ids({ limit: 3, offset: 2 })).toEqual(all.slice(2, 5));
    expect(await ids({ offset: 72 })).toEqual([]);
    expect(await ids({ offset: 2 ** 31 - 1 })).toEqual([]);
  });

  it.each([
    ['zoy', [11, 15]],
    ['ZOYA', [11, 15]],
    ['z', [11, 15]],
    ['Zo', [11, 15]],
    ['100000011', [11]],
    ['%', [12]],
    ['_1', [12]],
    ['a_', [12]],
    ['\\', [16]],
    ['k\\s', [16]],
    ['a 1', [17]],
    ['a  1', []],
    ['Unknown', []],
    ['q', []],
    ['qq', []],
    ['qqq', []],
  ])('A search for %j finds names and mobile numbers that contain it', async (search, expected) => {
    expect(await ids({ search })).toEqual(expected);
  });

  it.each(['', ' ', ' \t\n'])('The blank search %j counts as none', async (search) => {
    expect(await ids({ search })).toEqual(await ids({}));
  });

  it('A search is not trimmed', async () => {
    expect(await ids({ search: ' 100' })).toEqual([17]);
    expect(await ids({ search: '100 ' })).toEqual([]);
  });

  it.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 51 }],
    ['offset', { offset: -1 }],
    ['search', { search: 'x'.repeat(201) }],
    ['search', { search: 'a\0' }],
  ])('A value of %s that is out of bounds is refused', async (field, request) => {
    await expectInvalidField(api.staff.getUsersMiniInfo(request), field);
  });

  it('Users come by name as people sort, whatever the case and the accents', async () => {
    await api.sql(`insert into users (id, name, mobile) values
      (801, 'sort Zubin', '801'), (802, 'sort aarti', '802'), (803, 'sort Élodie', '803'), (804, 'sort Farid', '804')`);
    const { users } = await api.staff.getUsersMiniInfo({ search: 'sort ' });
    await api.sql('delete from users where id > 800');
    expect(users.map(({ name }) => name)).toEqual(['sort aarti', 'sort Élodie', 'sort Farid', 'sort Zubin']);
  });

  describe('Beyond what is shown', () => {
    beforeAll(async () => {
      // The index of searches would take most of the time.
      await api.sql('drop index users_search');
      await api.sql(
        `insert into users (id, name, mobile)
         select 1000 + n, 'Crowd ' || lpad(n::text, 7, '0'), '5' || lpad(n::text, 9, '0') from generate_series(1, 1001) n`,
      );
    });
    const firstOf = (count: number) => ids({ search: 'crowd', limit: 2, offset: count - 1 });

    it('The first 1,000 users of a search are shown, and a page beyond them is empty', async () => {
      expect(await firstOf(999)).toEqual([1_999, 2_000]);
      expect(await firstOf(1_000)).toEqual([2_000]);
      expect(await firstOf(1_001)).toEqual([]);
      expect(await ids({ search: 'crowd', offset: 2 ** 31 - 1 })).toEqual([]);
    });
  });
});
