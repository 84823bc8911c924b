import type { SlotRow, SlotTextRow } from '../../services/slot-service/slots/slot.ts';

/** A slot as PostgreSQL writes it. */
export function asText<Row extends SlotRow>(row: Row): Omit<Row, keyof SlotRow> & SlotTextRow {
  return {
    ...row,
    deliveryTime: timeText(row.deliveryTime),
    freezeTime: timeText(row.freezeTime),
    groupIds: `{${row.groupIds.join()}}`,
    deliverySequence: JSON.stringify(row.deliverySequence),
  };
}

/** PostgreSQL writes no zeros at the end of a fraction. */
function timeText(date: Date): string {
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, '');
}
