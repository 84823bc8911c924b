import { describe, expect, it } from 'vitest';
import { readDay, shiftDay } from '../../../services/staff-console/page/business/time-input.ts';
import { userSearch } from '../../../services/staff-console/page/lookup/names.ts';
import { readOrderKey } from '../../../services/staff-console/page/redemptions/order.ts';
import { isolate, readId } from '../../../services/staff-console/page/ui/text.ts';

describe('What staff type or paste', () => {
  it.each<[string | null, number | undefined]>([
    ['7', 7],
    [' 42 ', 42],
    ['2147483647', 2_147_483_647],
    ...['2147483648', '99999999999', '0', '-3', '7th', '1.5', '', null].map((text): [string | null, undefined] => [
      text,
      undefined,
    ]),
  ])('%j is the number of the record %s', (text, id) => {
    expect(readId(text)).toBe(id);
  });

  it.each([
    [' zoya   khan ', 'zoya khan'],
    ['98765 43210', '9876543210'],
    ['+91 98765-43210', '9876543210'],
    ['(098765) 43210', '9876543210'],
    ['Zoya 07', 'Zoya 07'],
  ])('By %j, users are searched for by %j', (text, search) => {
    expect(userSearch(text)).toBe(search);
  });

  it('The name of an order has visible characters, without pasted spaces', () => {
    expect([' sum0-98 ', 'a\tb', 'é', '', 'x'.repeat(129)].map(readOrderKey)).toEqual([
      ...['sum0-98', 'ab'],
      ...[undefined, undefined, undefined],
    ]);
  });

  it.each(['soon', '20266-01-01', '2026-13-01', '', null])('%j is no day', (text) => {
    expect(readDay(text)).toBeUndefined();
  });

  it('A day does not move beyond the years that a field has', () => {
    expect([shiftDay('2090-05-01', 9e9), shiftDay('9999-12-31', 1), shiftDay('2090-05-01', 7)]).toEqual([
      ...['2090-05-01', '9999-12-31', '2090-05-08'],
    ]);
  });

  it('A text with marks that turn the direction of a line stays within it', () => {
    expect(isolate('Eve \u202egnihton')).toBe('\u2068Eve \u202egnihton\u2069');
    expect(isolate('Asha Menon')).toBe('Asha Menon');
  });
});
