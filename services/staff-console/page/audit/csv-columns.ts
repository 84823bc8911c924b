import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { AuditEntry } from '../../../../shared/gen/audit/v1/audit_service_pb.ts';
import type { Column } from '../lists/column.ts';
import { describeDeed, nameOfRecord } from './trail/deeds.ts';

/** Returns the columns of a CSV file of the audit trail. Its times are in UTC, to the millisecond. */
export function csvColumns(staff: ReadonlyMap<number, string>): readonly Pick<Column<AuditEntry>, 'title' | 'text'>[] {
  const json = (value: AuditEntry['before']) => (value === undefined ? '' : JSON.stringify(value));
  return [
    { title: 'Time', text: ({ at }) => (at === undefined ? '' : timestampDate(at).toISOString()) },
    { title: 'Made by', text: ({ staffId, subject }) => (staffId && staff.get(staffId)) || subject },
    { title: 'What was done', text: (entry) => describeDeed(entry).replace('%', nameOfRecord(entry)) },
    { title: 'Before', text: ({ before }) => json(before) },
    { title: 'After', text: ({ after }) => json(after) },
    { title: 'Account', text: ({ subject }) => subject },
    { title: 'Request id', text: ({ requestId }) => requestId },
    { title: 'Procedure', text: ({ procedure }) => procedure },
  ];
}
