import type { ShownEntry } from '../audit/tail.ts';

/** The media type of a JSON array of events. */
export const batchType = 'application/cloudevents-batch+json';

/** Returns the JSON of a CloudEvent 1.0 whose data is an audit entry of a service (design 14). */
export function toEventJson(service: string, { row, message }: ShownEntry): string {
  const rpc = row.procedure.slice(row.procedure.lastIndexOf('/') + 1);
  const attributes = JSON.stringify({
    specversion: '1.0',
    id: `${service}-${row.id}`,
    source: `/delivery-admin/${service}`,
    type: `delivery-admin.${row.resourceType}.${rpc}`,
    subject: String(row.resourceId),
    time: row.at.toISOString(),
    datacontenttype: 'application/json',
  });
  return `${attributes.slice(0, -1)},"data":${message.json}}`;
}
