import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import type { Column } from '../lists/column.ts';
import { words } from '../words.ts';
import { describeDeed, nameOfRecord } from './trail/deeds.ts';

/** Returns the columns of a CSV file of the audit trail. Its times are in UTC, to the millisecond. */
export function csvColumns(staff: ReadonlyMap<number, string>): readonly Pick<Column<AuditEntry>, 'title' | 'text'>[] {
  const { columns, account, requestId, procedure } = words.activity;
  const json = (value: AuditEntry['before']) => (value === undefined ? '' : JSON.stringify(value));
  return [
    { title: columns.time, text: ({ at }) => (at === undefined ? '' : timestampDate(at).toISOString()) },
    { title: columns.by, text: ({ staffId, subject }) => (staffId && staff.get(staffId)) || subject },
    { title: columns.what, text: (entry) => describeDeed(entry).replace('%', nameOfRecord(entry)) },
    { title: columns.before, text: ({ before }) => json(before) },
    { title: columns.after, text: ({ after }) => json(after) },
    { title: account, text: ({ subject }) => subject },
    { title: requestId, text: (entry) => entry.requestId },
    { title: procedure, text: (entry) => entry.procedure },
  ];
}
