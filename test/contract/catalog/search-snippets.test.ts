import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { expectInvalidField, slotContract } from '../../support/contract.ts';

slotContract('SearchSnippets', (api) => {
  const catalog = () => createClient(CatalogService, api.transportAs('staff'));
  const codes = async (request: Parameters<ReturnType<typeof catalog>['searchSnippets']>[0]) =>
    (await catalog().searchSnippets(request)).snippets.map(({ snippetCode }) => snippetCode);
  const last = '\u{10FFFF}';

  beforeAll(async () => {
    await api.sql(`insert into slots (id, delivery_time, freeze_time) values (1, now(), now()), (2, now(), now())`);
    const stored = [
      ...['Diwali-2', 'diwali-1', 'DIWALIX', 'No Diwali', '50%_OFF', '50X', 'back\\slash', ' lead', 'ÇA-VA', 'Ca'],
      ...['Жук', 'ΟΔΟΣΑ', 'Straße 9', '😀 1', '😁', `End${last.repeat(125)}`, 'k\u{D7FF}a'],
    ];
    await api.sql(
      `insert into vendor_snippets (snippet_code, slot_id, product_ids) select unnest($1::text[]), 1, '{}'`,
      [stored],
    );
    await api.sql(`insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('Diwali', 2, '{}')`);
    await api.sql(`insert into vendor_snippets (snippet_code, slot_id, product_ids)
      select 'Row ' || n, 1, '{}' from generate_series(11, 70) n`);
  });

  it('Snippets are shown with their slot, ordered by code in any case', async () => {
    const { snippets } = await catalog().searchSnippets({ search: 'dIWALI' });
    expect(snippets).toMatchObject([
      { snippetCode: 'Diwali', slotId: 2 },
      { snippetCode: 'diwali-1', slotId: 1 },
      { snippetCode: 'Diwali-2', slotId: 1 },
      { snippetCode: 'DIWALIX', slotId: 1 },
    ]);
  });

  it.each([
    ['d', ['Diwali', 'diwali-1', 'Diwali-2', 'DIWALIX']],
    ['iwali', []],
    [' diwali', []],
    ['diwali ', []],
    ['50', ['50%_OFF', '50X']],
    ['50%', ['50%_OFF']],
    ['50_', []],
    ['%', []],
    ['BACK\\', ['back\\slash']],
    ['ça', ['ÇA-VA']],
    ['c\u0327a', ['ÇA-VA']],
    ['ca', ['Ca']],
    ['жУ', ['Жук']],
    ['οδος', ['ΟΔΟΣΑ']],
    ['STRASSE', ['Straße 9']],
    ['straß', ['Straße 9']],
    ['😀', ['😀 1']],
    ['end', [`End${last.repeat(125)}`]],
    [`end${last}`, [`End${last.repeat(125)}`]],
    ['k\u{D7FF}', ['k\u{D7FF}a']],
    ['k\u{E000}', []],
    [last, []],
    ['x'.repeat(200), []],
  ])('A search for %j finds the codes that begin with it', async (search, expected) => {
    expect(await codes({ search })).toEqual(expected);
  });

  it.each([undefined, '', ' ', '\t \n'])('The blank search %j finds none', async (search) => {
    expect(await codes(search === undefined ? {} : { search })).toEqual([]);
  });

  it('The first 20 are shown, or as many as the limit says', async () => {
    const rows = (count: number) => Array.from({ length: count }, (_, index) => `Row ${11 + index}`);
    expect(await codes({ search: 'row' })).toEqual(rows(20));
    expect(await codes({ search: 'row', limit: 1 })).toEqual(rows(1));
    expect(await codes({ search: 'row', limit: 50 })).toEqual(rows(50));
  });

  it.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 51 }],
    ['search', { search: 'x'.repeat(201) }],
    ['search', { search: 'a\0' }],
  ])('A value of %s that is out of bounds is refused', async (field, request) => {
    await expectInvalidField(catalog().searchSnippets(request), field);
  });
});
