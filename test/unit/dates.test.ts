import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parseDate } from '../../shared/rpc/dates.ts';

const zoneBefore = process.env.TZ;
afterAll(() => {
  if (zoneBefore === undefined) delete process.env.TZ;
  else process.env.TZ = zoneBefore;
});

// The time zone of the process must not matter, even far from UTC or with daylight saving time.
describe.each(['UTC', 'America/New_York', 'Asia/Kolkata'])('Dates in a process with the time zone %s', (zone) => {
  const parse = (text: string) => {
    process.env.TZ = zone;
    return parseDate(text)?.toISOString();
  };

  it.each([
    ['2026-03-07', '2026-03-07T00:00:00.000Z'],
    ['2026-03', '2026-03-01T00:00:00.000Z'],
    ['2026-03-08T02:30', '2026-03-08T02:30:00.000Z'],
    ['2026-03-07T10:00:00Z', '2026-03-07T10:00:00.000Z'],
    ['2026-03-07t10:00:00.123456z', '2026-03-07T10:00:00.123Z'],
    ['2026-03-07 10:00:00+05:30', '2026-03-07T04:30:00.000Z'],
    ['2026-03-07T10:00-0800', '2026-03-07T18:00:00.000Z'],
    ['2026-03-07T24:00:00Z', '2026-03-08T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['Mar 7, 2026', '2026-03-07T00:00:00.000Z'],
    ['7 March 2026 10:15', '2026-03-07T10:15:00.000Z'],
    ['2026/03/07', '2026-03-07T00:00:00.000Z'],
    ['03/07/2026 5:00 PM', '2026-03-07T17:00:00.000Z'],
    ['Sat, 07 Mar 2026 10:00:00 GMT', '2026-03-07T10:00:00.000Z'],
    ['Sat Mar 07 2026 10:00:00 GMT+0530 (India Standard Time)', '2026-03-07T04:30:00.000Z'],
    ['Mar 7, 2026 10:00 -05:00', '2026-03-07T15:00:00.000Z'],
    ['  2026-03-07  ', '2026-03-07T00:00:00.000Z'],
    ['2026-3-7', '2026-03-07T00:00:00.000Z'],
    ['2/29/2028', '2028-02-29T00:00:00.000Z'],
    ['7-Mar-26', '2026-03-07T00:00:00.000Z'],
    ['2026 Mar. 7 12:30 am', '2026-03-07T00:30:00.000Z'],
    ['Sat Mar  7 10:00:00 UTC 2026', '2026-03-07T10:00:00.000Z'],
    ['Sat Mar 7 2026 10:00:00.25 PST', '2026-03-07T18:00:00.250Z'],
    ['March 7 2026 EDT', '2026-03-07T04:00:00.000Z'],
    ['7 Mar (a Saturday) 2026 10:00 UTC+2', '2026-03-07T08:00:00.000Z'],
  ])('The date %s is read as %s', (text, expected) => {
    expect(parse(text)).toBe(expected);
  });

  it.each([
    ...['', ' ', 'soon', '2026', '1767225600000', '-5', '1.5', '2026-02-31', '2026-02-29', '2026-13-01'],
    ...['2026-00-10', '2026-01-00', '2026-01-01T25:00', '2026-01-01T24:01', '2026-01-01T10:60'],
    ...['2026-01-01T10:00:60Z', '2026-01-01T10:00:00+24:00', '0000-01-01', '0001-01-01T00:00:00+01:00'],
    ...['9999-12-31T23:00:00-02:00', '+010000-01-01', '2026/02/31', 'February 31, 2026', '31 Feb 2026 10:00 GMT'],
    ...['slot 5', 'abc 12', 'foo 1', 'foo 7 March 2026', '2026/02/30', '2026-2-30', '2/30/2026', '2/29/2026 10:00'],
    ...['Feb 31 03', '31-Feb-2026', '2026 Feb 30', 'Sat Feb 31 10:00:00 UTC 2026', '30 Feb 2026 (Saturday)'],
    ...['31/4/2026', 'Mar 7 2026 13:00 PM', 'Mar 7 2026 25:00', 'Mar 7 2026 10:00 +25:00', 'Mar 2026', 'March 7'],
    ...['Mar 7 2026 8', 'Mar 7 -2026', '2026-03-07T10:00:00Zjunk'],
  ])('The text %j is refused as a date', (text) => {
    expect(parse(text)).toBeUndefined();
  });
});

it('A date that is read is the one that Date.parse reads', () => {
  process.env.TZ = 'UTC';
  const number = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 12_000 })).map(String);
  const word = fc.constantFrom(
    ...['Jan', 'February', 'Sept', 'may.', 'Sat', 'Monday', 'GMT', 'Z', 'utc', 'EST', 'PDT', 'PM', 'am', 'T', 'x'],
    ...['10:00', '1:02:03', '12:30', '23:59:59.1234', '24:00:00', '(so)', '+05:30', '-8', '+0100'],
  );
  const separator = fc.constantFrom(' ', ' ', '/', '-', ', ', '', '  ', '.');
  const text = fc.array(fc.tuple(fc.oneof(number, word), separator), { maxLength: 8 });
  let read = 0;
  fc.assert(
    fc.property(text, (pieces) => {
      const written = pieces.flat().join('');
      const date = parseDate(written);
      if (date === undefined) return;
      read += 1;
      expect(date.getTime(), written).toBe(Date.parse(written));
    }),
    { numRuns: 100_000 },
  );
  expect(read).toBeGreaterThan(100);
});
