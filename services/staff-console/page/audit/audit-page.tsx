import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useLocation, useNavigate } from 'react-router';
import type { AuditEntry } from '#gen/audit/v1/audit_service_pb';
import { useNow } from '../business/time.tsx';
import { dateInput, fromTimeInput, timeInput } from '../business/time-input.ts';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import { TimeField } from '../forms/time-field.tsx';
import type { Column } from '../lists/column.tsx';
import { CsvButton } from '../lists/csv-button.tsx';
import { Endless } from '../lists/endless.tsx';
import { useFilters } from '../lists/filters.ts';
import { SavedFilters } from '../lists/views.tsx';
import { useStaff } from '../lookup/names.ts';
import { describeFailure } from '../rpc/failure.ts';
import { useTransports } from '../rpc/transport.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading, Page, Problem } from '../ui/page.tsx';
import { words } from '../words.ts';
import { EntryView } from './history.tsx';
import { describeDeed, describeMutation, mutations, nameOfRecord } from './trail/deeds.ts';
import { type FilterValues, filterNames, toRequest } from './trail/filters.ts';
import { byNewest } from './trail/merge-trails.ts';
import { eachPage, useMergedTrail } from './trail/trail.ts';

const text = words.activity;
const capitalize = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const kindOptions = Object.entries(text.kinds).map(([kind, name]) => [kind, capitalize(name)] as const);
const mutationOptions = mutations.map((procedure) => [procedure, describeMutation(procedure)] as const);
const titles = { slot: text.slotsMissing, coupon: text.couponsMissing };

/** Shows the audit trail of both services, newest first. The URL holds the filters (design 10). */
export function Component() {
  const { values } = useFilters(filterNames);
  const now = useNow(10_000);
  const { request, problems } = toRequest(values, dateInput(new Date(now)));
  const isAsked = Object.keys(problems).length === 0;
  const { trails, entries, lagging } = useMergedTrail(request, isAsked);
  const transports = useTransports();
  const staff = useStaff();
  const isLoading = trails.some(({ isPending }) => isPending);
  const failed = trails.flatMap(({ error, ...trail }) =>
    error === null ? [] : [{ ...trail, failure: describeFailure(error) }],
  );
  const isEmpty = isAsked && !isLoading && failed.length + entries.length === 0 && lagging === undefined;
  return (
    <Page title={words.frame.activity} beside={<span className="detail">{text.what}</span>}>
      <FilterBar problems={Object.assign({}, ...failed.map(({ failure }) => failure.fields), problems)} />
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
      {isLoading && <Loading what={text.theChanges} />}
      {isEmpty && <Empty>{Object.values(values).some(Boolean) ? text.none : text.noneYet}</Empty>}
      {entries.length > 0 && (
        <div className="list-header">
          <span className="detail">{words.newestFirst}</span>
          <CsvButton
            name="audit-trail"
            columns={csvColumns(staff)}
            eachPage={(signal) => eachPage(transports, request, signal)}
            narrow={(rows) => rows.toSorted(byNewest)}
          />
        </div>
      )}
      {entries.length > 0 && (
        <ol className="plain card" aria-label={text.list}>
          {entries.map((entry) => (
            <EntryView key={`${entry.resourceType} ${entry.id}`} entry={entry} now={now} />
          ))}
        </ol>
      )}
      <Endless
        hasMore={!isLoading && lagging !== undefined}
        isLoading={lagging?.isFetchingNextPage ?? false}
        onMore={() => void lagging?.fetchNextPage()}
      />
    </Page>
  );
}

/** The filters of the trail. What is chosen applies at once; what is typed, together, when it is sent. */
function FilterBar({ problems }: { readonly problems: Record<string, string> }) {
  const { values, set, field } = useFilters(filterNames);
  const { search } = useLocation();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(() => ({ ...toDraft(values), search }));
  // A link or the browser's Back button may change the filters in the URL.
  if (draft.search !== search) setDraft({ ...toDraft(values), search });
  const [isOpen, setIsOpen] = useState([values.id, values.by, values.since, values.until].some(Boolean));
  const typed = (name: keyof FilterValues) => ({
    value: draft[name],
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  const staff = [...useStaff()].map(([number, name]) => [String(number), name] as const);
  return (
    <Form
      className="bar"
      aria-label={text.filters}
      validationErrors={problems}
      onSubmit={(event) => {
        event.preventDefault();
        const { id, by, since, until } = draft;
        set({ id: id.trim(), by: by.trim(), since: fromTimeInput(since), until: fromTimeInput(until) });
      }}
    >
      <SelectField
        label={words.coupon.form.when}
        none={words.anyTime}
        options={Object.entries(text.whens)}
        {...field('when')}
      />
      <SelectField label={words.activity.columns.by} none={text.anybody} options={staff} {...field('staff')} />
      <SelectField label={text.record} none={words.any} options={kindOptions} {...field('type')} />
      <SelectField
        label={words.activity.columns.what}
        none={words.any}
        options={mutationOptions}
        {...field('procedure')}
      />
      {isOpen ? (
        <div className="row">
          <TextField label={text.recordNumber} name="resourceId" inputMode="numeric" {...typed('id')} />
          <TextField label={text.account} name="subject" placeholder={text.accountHint} {...typed('by')} />
          <TimeField label={words.from} name="since" usual="00:00" {...typed('since')} />
          <TimeField label={words.activity.columns.before} name="until" usual="00:00" {...typed('until')} />
        </div>
      ) : (
        <Button emphasis="quiet" onPress={() => setIsOpen(true)}>
          {text.more}
        </Button>
      )}
      {isOpen && <Button type="submit">{text.show}</Button>}
      {Object.values(values).some(Boolean) && (
        <Button emphasis="quiet" onPress={() => void navigate('/audit')}>
          {words.lists.clearFilters}
        </Button>
      )}
      <SavedFilters />
    </Form>
  );
}

/** Returns what the form's fields show: times in the business's time zone, and nothing for what is no time. */
function toDraft(values: FilterValues): FilterValues {
  const input = (time: string) => (Number.isNaN(Date.parse(time)) ? '' : timeInput(new Date(time)));
  return { ...values, since: input(values.since), until: input(values.until) };
}

/** Returns the columns of a CSV file of the audit trail. Its times are in UTC, to the millisecond. */
function csvColumns(staff: ReadonlyMap<number, string>): readonly Pick<Column<AuditEntry>, 'title' | 'text'>[] {
  const { columns, account, requestId, procedure } = text;
  return [
    { title: columns.time, text: ({ at }) => (at === undefined ? '' : timestampDate(at).toISOString()) },
    { title: columns.by, text: ({ staffId, subject }) => (staffId && staff.get(staffId)) || subject },
    { title: columns.what, text: (entry) => describeDeed(entry).replace('%', nameOfRecord(entry)) },
    { title: columns.before, text: ({ before }) => (before ? JSON.stringify(before) : '') },
    { title: columns.after, text: ({ after }) => (after ? JSON.stringify(after) : '') },
    { title: account, text: ({ subject }) => subject },
    { title: requestId, text: (entry) => entry.requestId },
    { title: procedure, text: (entry) => entry.procedure },
  ];
}
