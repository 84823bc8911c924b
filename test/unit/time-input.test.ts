import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { dateInput, fromTimeInput, timeInput } from '../../services/staff-console/page/ui/time-input.ts';

describe('The time in a field', () => {
  it('The time in a field is that of the time zone here, to the minute', () => {
    const date = new Date(2030, 0, 2, 0, 5, 59);
    expect(timeInput(date)).toBe('2030-01-02T00:05');
    expect(dateInput(date)).toBe('2030-01-02');
  });

  it('The time in a field is sent in UTC', () => {
    expect(fromTimeInput('2030-01-02T00:05')).toBe(new Date(2030, 0, 2, 0, 5).toISOString());
  });

  it('A time that nobody has changed keeps its seconds', () => {
    const date = new Date(2030, 0, 2, 0, 5, 59);
    expect(fromTimeInput(timeInput(date), timestampFromDate(date))).toBe(date.toISOString());
    expect(fromTimeInput('2030-01-02T00:06', timestampFromDate(date))).toBe(new Date(2030, 0, 2, 0, 6).toISOString());
  });

  it('What is no time is sent as it is, so that the service says what is wrong with it', () => {
    expect(fromTimeInput('')).toBe('');
    expect(fromTimeInput('20301-01-02T00:05')).toBe('20301-01-02T00:05');
  });
});
