import { Code } from '@connectrpc/connect';
import { useSearchParams } from 'react-router';
import { useNow } from '../business/time.tsx';
import { dateInput } from '../business/time-input.ts';
import { CsvButton } from '../lists/csv-button.tsx';
import { Endless } from '../lists/endless.tsx';
import { useStaff } from '../lookup/names.ts';
import { Empty, Loading, Page, Problem } from '../ui/page.tsx';
import { words } from '../words.ts';
import { csvColumns } from './csv-columns.ts';
import { EntryView } from './entry-view.tsx';
import { FilterBar } from './filter-bar.tsx';
import { readFilters, toParams, toRequest } from './trail/filters.ts';
import { byNewest } from './trail/merge-trails.ts';
import type { TrailOwner } from './trail/trail.ts';
import { type TrailFailure, useEachTrailPage, useMergedTrail } from './trail/use-merged-trail.ts';

const tickMs = 10_000;
const text = words.activity;
const titles = { slot: text.slotsMissing, coupon: text.couponsMissing } as const satisfies Record<TrailOwner, string>;

/** Shows the audit trail of both services, newest first. The URL holds the filters (design 10). */
export function Component() {
  const [params, setParams] = useSearchParams();
  const now = useNow(tickMs);
  const filters = readFilters(params);
  const { request, problems } = toRequest(filters, dateInput(new Date(now)));
  const isAsked = Object.keys(problems).length === 0;
  const trail = useMergedTrail(request, isAsked);
  const eachPage = useEachTrailPage(request);
  const staff = useStaff();
  const refused = Object.assign({}, ...trail.failures.map(({ failure }) => failure.fields));
  const missing = trail.failures.filter(({ failure }) => Object.keys(failure.fields).length === 0);
  const isAnswered = isAsked && !trail.isLoading && trail.failures.length === 0;
  return (
    <Page title={words.frame.activity} beside={<span className="detail">{text.what}</span>}>
      <FilterBar
        filters={filters}
        problems={{ ...refused, ...problems }}
        onFilter={(next) => setParams(toParams(next))}
      />
      {missing.map((each) => (
        <Missing key={each.owner} {...each} />
      ))}
      {trail.isLoading && <Loading what="the changes" />}
      {isAnswered && trail.entries.length === 0 && !trail.hasMore && (
        <Empty>{toParams(filters).size > 0 ? text.none : text.noneYet}</Empty>
      )}
      {trail.entries.length > 0 && (
        <div className="list-header">
          <span className="detail">{text.newestFirst}</span>
          <CsvButton
            name="audit-trail"
            columns={csvColumns(staff)}
            eachPage={eachPage}
            narrow={(entries) => entries.toSorted(byNewest)}
          />
        </div>
      )}
      <ol className="audit-entries card" aria-label={text.list}>
        {trail.entries.map((entry) => (
          <EntryView key={`${entry.resourceType} ${entry.id}`} entry={entry} now={now} />
        ))}
      </ol>
      <Endless hasMore={trail.hasMore} isLoading={trail.isLoadingMore} onMore={trail.readMore} />
    </Page>
  );
}

/** Says which changes are missing, and why. */
function Missing({ owner, failure, retry }: TrailFailure) {
  // Both services refuse a person who is not signed in, so the message names neither.
  const isAboutPerson = failure.code === Code.Unauthenticated;
  const shown = isAboutPerson
    ? failure
    : { ...failure, title: titles[owner], advice: `${failure.title}. ${failure.advice}` };
  return <Problem failure={shown} onRetry={retry} />;
}
