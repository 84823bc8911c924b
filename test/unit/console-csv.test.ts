import { describe, expect, it } from 'vitest';
import { csvLine } from '../../services/staff-console/page/lists/csv.ts';

describe('A line of a CSV file', () => {
  it('Cells with commas, quotes and line breaks are quoted', () => {
    expect(csvLine(['a', 'b, c', 'say "x"', 'two\nlines', ''])).toBe('a,"b, c","say ""x""","two\nlines",\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@A1', '\tx'])('A cell %j is no formula for a spreadsheet', (cell) => {
    expect(csvLine([cell])).toBe(`'${cell}\r\n`);
  });
});
