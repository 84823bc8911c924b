import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import { useNow } from '../business/time.tsx';
import { dateInput } from '../business/time-input.ts';
import type { Column } from '../lists/column.ts';
import { CsvButton } from '../lists/csv-button.tsx';
import { Endless } from '../lists/endless.tsx';
import { useFilters } from '../lists/filters.ts';
import { useStaff } from '../lookup/names.ts';
import { describeFailure } from '../rpc/failure.ts';
import { useTransports } from '../rpc/transport.ts';
import { Empty, Loading, Page, Problem } from '../ui/page.tsx';
import { words } from '../words.ts';
import { EntryView } from './entry-view.tsx';
import { FilterBar } from './filter-bar.tsx';
import { describeDeed, nameOfRecord } from './trail/deeds.ts';
import { filterNames, toRequest } from './trail/filters.ts';
import { byNewest } from './trail/merge-trails.ts';
import { eachPage, useMergedTrail } from './trail/trail.ts';

const text = words.activity;
const titles = { slot: text.slotsMissing, coupon: text.couponsMissing };

/** Shows the audit trail of both services, newest first. The URL holds the filters (design 10). */
export function Component() {
  const filters = useFilters(filterNames);
  const now = useNow(10_000);
  const { request, problems } = toRequest(filters.values, dateInput(new Date(now)));
  const isAsked = Object.keys(problems).length === 0;
  const { trails, entries, lagging } = useMergedTrail(request, isAsked);
  const transports = useTransports();
  const staff = useStaff();
  const isLoading = trails.some(({ isPending, error }) => isPending && error === null);
  const failed = trails.flatMap(({ error, ...trail }) =>
    error === null ? [] : [{ ...trail, failure: describeFailure(error) }],
  );
  const isEmpty = isAsked && !isLoading && failed.length + entries.length === 0 && lagging === undefined;
  const isFiltered = Object.values(filters.values).some(Boolean);
  return (
    <Page title={words.frame.activity} beside={<span className="detail">{text.what}</span>}>
      <FilterBar
        filters={filters}
        problems={Object.assign({}, ...failed.map(({ failure }) => failure.fields), problems)}
      />
      {failed
        .filter(({ failure }) => Object.keys(failure.fields).length === 0)
        .map(({ owner, failure, isFetchNextPageError, fetchNextPage, refetch }) => (
          <Problem
            key={owner}
            // Both services refuse a person who is not signed in, so the message names neither.
            failure={
              failure.code === Code.Unauthenticated
                ? failure
                : { ...failure, title: titles[owner], advice: `${failure.title}. ${failure.advice}` }
            }
            onRetry={() => void (isFetchNextPageError ? fetchNextPage() : refetch())}
          />
        ))}
      {isLoading && <Loading what="the changes" />}
      {isEmpty && <Empty>{isFiltered ? text.none : text.noneYet}</Empty>}
      {entries.length > 0 && (
        <div className="list-header">
          <span className="detail">{text.newestFirst}</span>
          <CsvButton
            name="audit-trail"
            columns={csvColumns(staff)}
            eachPage={(signal) => eachPage(transports, request, signal)}
            narrow={(rows) => rows.toSorted(byNewest)}
          />
        </div>
      )}
      <ol className="audit-entries card" aria-label={text.list}>
        {entries.map((entry) => (
          <EntryView key={`${entry.resourceType} ${entry.id}`} entry={entry} now={now} />
        ))}
      </ol>
      <Endless
        hasMore={!isLoading && lagging !== undefined}
        isLoading={lagging?.isFetchingNextPage ?? false}
        onMore={() => void lagging?.fetchNextPage()}
      />
    </Page>
  );
}

/** Returns the columns of a CSV file of the audit trail. Its times are in UTC, to the millisecond. */
function csvColumns(staff: ReadonlyMap<number, string>): readonly Pick<Column<AuditEntry>, 'title' | 'text'>[] {
  const { columns, account, requestId, procedure } = text;
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
