import { describe, expect, it } from 'vitest';
import { csvLine, exactCode, guarded } from '../../../services/staff-console/page/lists/csv.ts';

describe('A line of a CSV file', () => {
  it('Every cell is quoted, also an empty one, and its quotes are doubled', () => {
    const cells = ['a', 'b, c', 'say "x"', 'two\nlines', 'x;y', 'x|y', 'x\ty', ''];
    expect(csvLine(cells)).toBe('"a","b, c","say ""x""","two\nlines","x;y","x|y","x\ty",""\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@A1', '\tx', '\rx', '\nx', '\uff1d1', '\uff0b1', '\uff0d1', '\uff20A1'])(
    'A cell %j is no formula for a spreadsheet',
    (cell) => {
      expect(guarded(cell)).toBe(`'${cell}`);
    },
  );

  it.each([
    ["X;=cmd|' /C calc'!A0", "X;'=cmd|' /C calc'!A0"],
    ['a|+1', "a|'+1"],
    ['a\t-1', "a\t'-1"],
    ['a\n@A1', "a\n'@A1"],
    ['a\r\uff1d1', "a\r'\uff1d1"],
    ['a;b; =1', "a;b; '=1"],
    ['a;"=1"', 'a;"\'=1"'],
  ])('What stands behind a separator in %j is no formula either', (cell, expected) => {
    expect(guarded(cell)).toBe(expected);
  });

  it.each(['SAVE10', 'A-1', 'a+b', 'x=y', 'mail@example.com', '1 + 1', ''])('The text %j stays as it is', (cell) => {
    expect(guarded(cell)).toBe(cell);
  });

  it('A code of letters, digits and hyphens is exact, and any other is guarded', () => {
    expect(['-4C3928MP', 'AB-12', '-1+1', '=A1'].map(exactCode)).toEqual(['-4C3928MP', 'AB-12', "'-1+1", "'=A1"]);
  });
});
