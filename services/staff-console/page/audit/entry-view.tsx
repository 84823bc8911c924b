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

/** Describes a change in plain words: who made it, when, to which record, and what it altered (design 10). */
export function EntryView({ entry, now }: { readonly entry: AuditEntry; readonly now: number }) {
  const { at, subject, staffId, before, requestId, procedure } = entry;
  const details = [
    [text.account, subject],
    [text.requestId, requestId],
    [text.procedure, procedure],
  ] as const;
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
            <Facts rows={details.map(([name, value]) => [name, <code key={name}>{value}</code>])} />
            <p>
              <Link href={trailOf(entry)}>{text.allOf(nameOfRecord(entry))}</Link>
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

/** The kinds of records that have pages, with the paths of these. */
const pages: Readonly<Record<string, string>> = {
  slot: '/slots',
  coupon: '/coupons',
  user: '/users',
  coupon_batch: '/coupons/batches',
};

/** Says who did what to which record, which it links to: to its page or, if it has none, to its audit trail. */
export function Deed({ entry }: { readonly entry: AuditEntry }) {
  const [beforeName, afterName] = describeDeed(entry).split('%');
  const page = pages[entry.resourceType];
  return (
    <p>
      <strong>
        <Author entry={entry} />
      </strong>{' '}
      {beforeName}
      <Link href={page === undefined ? trailOf(entry) : `${page}/${entry.resourceId}`}>{nameOfRecord(entry)}</Link>
      {afterName}
    </p>
  );
}

const trailOf = ({ resourceType, resourceId }: AuditEntry) =>
  trailAddress({ type: resourceType, id: String(resourceId) });

/** Names who made a change: the staff user, or the account of a caller who is not staff. */
export function Author({ entry: { staffId, subject } }: { readonly entry: AuditEntry }) {
  const staff = useStaff();
  return (staffId !== undefined && staff.get(staffId)) || isolate(subject);
}
