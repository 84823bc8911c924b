import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Link } from 'react-aria-components/Link';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import { Time, timeSince } from '../business/time.tsx';
import { useStaff } from '../lookup/names.ts';
import { Facts } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { ChangeView } from './change-view.tsx';
import { Expandable } from './expandable.tsx';
import { changedFields } from './fields.ts';
import { describeDeed, nameOfRecord } from './trail/deeds.ts';
import { trailAddress } from './trail/filters.ts';
import './audit.css';

const text = words.activity;

interface EntryViewProps {
  readonly entry: AuditEntry;
  /** In Unix ms. */
  readonly now: number;
}

/** Describes a change in plain words: who made it, when, to which record, and what it altered (design 10). */
export function EntryView({ entry, now }: EntryViewProps) {
  const { at, subject, staffId, before, requestId, procedure } = entry;
  return (
    <li className="audit-entry">
      <Deed entry={entry} />
      <p className="detail">
        {at !== undefined && `${timeSince(timestampMs(at), now)}, `}
        <Time at={at} />
      </p>
      <Facts
        rows={changedFields(entry).map((field) => [
          field.label,
          <ChangeView key={field.name} field={field} isNew={before === undefined} />,
        ])}
      />
      <Expandable summary={text.details}>
        {() => (
          <>
            <Facts
              rows={[
                [text.account, <code key="account">{subject}</code>],
                [text.requestId, <code key="id">{requestId}</code>],
                [text.procedure, <code key="procedure">{procedure}</code>],
              ]}
            />
            <p>
              <Link href={trailAddress({ type: entry.resourceType, id: String(entry.resourceId) })}>
                {text.allOf(nameOfRecord(entry))}
              </Link>
            </p>
            <p>
              <Link href={trailAddress(staffId === undefined ? { by: subject } : { staff: String(staffId) })}>
                {text.allBy} <Author entry={entry} />
              </Link>
            </p>
          </>
        )}
      </Expandable>
    </li>
  );
}

/** Says who did what to which record, which it links to. */
export function Deed({ entry }: { readonly entry: AuditEntry }) {
  const [beforeName = '', afterName = ''] = describeDeed(entry).split('%');
  return (
    <p>
      <strong>
        <Author entry={entry} />
      </strong>{' '}
      {beforeName}
      <RecordLink entry={entry} />
      {afterName}
    </p>
  );
}

/** Names who made a change: the staff user, or the account of a caller who is not staff. */
export function Author({ entry }: { readonly entry: Pick<AuditEntry, 'subject' | 'staffId'> }) {
  const staff = useStaff();
  return (entry.staffId !== undefined && staff.get(entry.staffId)) || isolate(entry.subject);
}

/** Links a record to its page. One of a kind without pages links to its audit trail. */
function RecordLink({ entry }: { readonly entry: AuditEntry }) {
  const { resourceType, resourceId } = entry;
  const pages: Readonly<Record<string, string>> = {
    ...{ slot: 'slots', coupon: 'coupons', user: 'users' },
    coupon_batch: 'coupons/batches',
  };
  const page = pages[resourceType];
  const href =
    page === undefined ? trailAddress({ type: resourceType, id: String(resourceId) }) : `/${page}/${resourceId}`;
  return <Link href={href}>{nameOfRecord(entry)}</Link>;
}
