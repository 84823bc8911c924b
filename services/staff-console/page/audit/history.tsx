import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { Link } from 'react-aria-components/Link';
import { type AuditEntry, AuditService } from '#gen/audit/v1/audit_service_pb';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { Time, timeSince, useNow } from '../business/time.tsx';
import { useStaff } from '../lookup/names.ts';
import { useTransports } from '../rpc/transport.ts';
import { SlotName } from '../slots/record/slot-state.tsx';
import { Button } from '../ui/button.tsx';
import { Empty, Facts, Read, Section } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { ChangeView } from './change-view.tsx';
import { Expandable } from './expandable.tsx';
import { changedFields } from './fields.ts';
import { describeDeed, type Kind, nameOfKind, nameOfRecord } from './trail/deeds.ts';
import { trailAddress } from './trail/filters.ts';
import { byNewest } from './trail/merge-trails.ts';
import { ownerOf, useTrail } from './trail/trail.ts';
import './audit.css';

const text = words.activity;
const tickMs = 10_000;
const staleTime = 60_000;
const { listEntries } = AuditService.method;

interface RecordProps {
  readonly type: Kind;
  readonly id: number;
}

/**
 * Shows a record's audit trail as a section of its page, newest first, page by page (design 10). Among its changes stand
 * the recoveries of the database, which may have lost some. Those before the last change on show are left out.
 */
export function History({ type, id }: RecordProps) {
  const now = useNow(tickMs);
  const request = { resourceType: type, resourceId: id, limit: 10 };
  const trail = useTrail(ownerOf(type), request, { followsStore: type === 'slot' });
  const recoveries = useQuery(listEntries, { resourceType: 'database', limit: 1_000 });
  const all = [...trail.entries, ...(recoveries.data?.entries ?? [])].sort(byNewest);
  const last = trail.entries.at(-1);
  const entries = last === undefined ? all : all.slice(0, all.indexOf(last) + 1);
  return (
    <Section title={text.history}>
      <Read query={trail} what={text.theChanges}>
        {() => (
          <>
            {entries.length === 0 && <Empty>{text.noHistory}</Empty>}
            <Read query={recoveries} what={text.theChanges}>
              {() => null}
            </Read>
            <ol className="plain">
              {entries.map((entry) => (
                <EntryView key={`${entry.resourceType} ${entry.id}`} entry={entry} now={now} />
              ))}
            </ol>
            {trail.hasNextPage && (
              <Button isPending={trail.isFetchingNextPage} onPress={() => void trail.fetchNextPage()}>
                {trail.isFetchingNextPage ? words.lists.loading : words.lists.showMore}
              </Button>
            )}
          </>
        )}
      </Read>
    </Section>
  );
}

/** Says who changed a record last, and when, such as "Changed by staff-2 1 min ago." */
export function LastChange({ type, id }: RecordProps) {
  const now = useNow(tickMs);
  const transport = useTransports()[ownerOf(type)];
  const request = { resourceType: type, resourceId: id, limit: 1 };
  const { data, isFetching } = useQuery(listEntries, request, { transport, staleTime: 0 });
  const entry = data?.entries[0];
  // A cached entry may no longer be the last one.
  if (isFetching || entry?.at === undefined) return null;
  return (
    <span>
      {text.changedBy}{' '}
      <strong>
        <Author entry={entry} />
      </strong>{' '}
      {timeSince(timestampMs(entry.at), now)}.
    </span>
  );
}

/** Describes a change in plain words: who made it, when, to which record, and what it altered (design 10). */
export function EntryView({ entry, now }: { readonly entry: AuditEntry; readonly now: number }) {
  const { at, subject, staffId, requestId, procedure } = entry;
  const details = { [text.account]: subject, [text.requestId]: requestId, [text.procedure]: procedure };
  // Its page tells what a new record has.
  const isNew = entry.before === undefined && entry.resourceType in pages;
  const changes = (
    <Facts rows={changedFields(entry).map((field) => [field.label, <ChangeView key={field.name} field={field} />])} />
  );
  return (
    <li className="audit-entry">
      <Deed entry={entry} />
      <p className="detail">
        {at !== undefined && `${timeSince(timestampMs(at), now)}, `}
        <Time at={at} />
      </p>
      {!isNew && changes}
      <Expandable summary={text.details}>
        {() => (
          <>
            {isNew && changes}
            <Facts rows={Object.entries(details).map(([name, value]) => [name, <code key={name}>{value}</code>])} />
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
  slot: 'slots',
  coupon: 'coupons',
  user: 'users',
  coupon_batch: 'coupons/batches',
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
      <Link href={page === undefined ? trailOf(entry) : `/${page}/${entry.resourceId}`}>
        <RecordName entry={entry} />
      </Link>
      {afterName}
    </p>
  );
}

/** Names a slot by its time, a coupon by its code and a hold by its order, once these are read; others by their numbers. */
function RecordName({ entry }: { readonly entry: AuditEntry }) {
  const { resourceType, resourceId: id } = entry;
  const ofCoupon = resourceType === 'coupon' ? { id } : skipToken;
  const code = useQuery(CouponService.method.getById, ofCoupon, { staleTime }).data?.coupon?.couponCode;
  const isHold = ['booking', 'redemption'].includes(resourceType);
  // The first change of a hold has its order.
  const isFirst = entry.before === undefined;
  const ofHold = isHold && !isFirst ? { resourceType, resourceId: id, limit: 100 } : skipToken;
  const transport = useTransports()[ownerOf(resourceType)];
  const trail = useQuery(listEntries, ofHold, { transport, staleTime }).data?.entries;
  const order = isHold && (isFirst ? entry : trail?.find(({ before }) => before === undefined))?.after?.orderKey;
  if (typeof order === 'string') return text.ofOrder(nameOfKind(resourceType), isolate(order));
  if (resourceType === 'slot') return <SlotName id={id} />;
  return code === undefined ? nameOfRecord(entry) : `${text.kinds.coupon} ${isolate(code)}`;
}

const trailOf = ({ resourceType, resourceId }: AuditEntry) =>
  trailAddress({ type: resourceType, id: String(resourceId) });

/** Names who made a change: the staff user, or the account of a caller who is not staff. */
export function Author({ entry: { staffId, subject } }: { readonly entry: AuditEntry }) {
  const staff = useStaff();
  return (staffId !== undefined && staff.get(staffId)) || isolate(subject);
}
