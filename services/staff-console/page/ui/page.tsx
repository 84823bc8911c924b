import { Code } from '@connectrpc/connect';
import { type ComponentType, type ReactNode, useEffect, useRef } from 'react';
import { useLocation, useParams, useRouteError } from 'react-router';
import { describeFailure, type Failure } from '../rpc/failure.ts';
import { words } from '../words.ts';
import type { MoreAction } from './action-list.tsx';
import { Button, ButtonLink } from './button.tsx';
import { MoreMenu } from './more-menu.tsx';
import { readId } from './text.ts';

interface PageProps {
  readonly title: string;
  /** Shown beside the heading, such as the state of the record. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  /** Where the page's filled button leads: it makes what the page lists. */
  readonly create?: { readonly name: string; readonly href: string };
  readonly more?: readonly MoreAction[];
  readonly children: ReactNode;
}

/** The frame of every page. */
export function Page({ title, beside, actions, create, more = [], children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { key, pathname } = useLocation();
  const isFirst = key === 'default';
  useEffect(() => {
    document.title = `${title} · ${words.frame.product}`;
  }, [title]);
  // Keyboards and screen readers continue at the heading, because the link that was followed is gone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it depends only on which page is shown.
  useEffect(() => {
    // A page that begins with a search has the focus there.
    if (!isFirst && document.activeElement?.matches('main input') !== true) heading.current?.focus();
  }, [pathname]);
  return (
    <>
      <header className="page-header">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {beside}
        <div className="actions">
          {actions}
          {create !== undefined && (
            <ButtonLink href={create.href} emphasis="primary">
              {create.name}
            </ButtonLink>
          )}
          {more.length > 0 && <MoreMenu actions={more} />}
        </div>
      </header>
      {children}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly isEditing?: boolean;
  readonly children: ReactNode;
}

/** A part of a page with its own heading. */
export function Section({ title, actions, isEditing = false, children }: SectionProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const wasEditing = useRef(isEditing);
  // The keyboard continues at the heading, because the button that was pressed is gone.
  useEffect(() => {
    if (wasEditing.current !== isEditing) heading.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  return (
    <section className="card" aria-label={title}>
      <header className="section-header">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Shows the shape of what is being read. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{words.loading(what)}</span>
    </div>
  );
}

interface ProblemProps {
  readonly failure: Pick<Failure, 'title' | 'advice'> & { readonly code?: Code };
  /** Retries the call that failed. Not offered for a record that does not exist. */
  readonly onRetry?: () => void;
  readonly children?: ReactNode;
}

/** Says what went wrong and what to do. If there is nothing to do, it is not shown as an alert. */
export function Problem({ failure, onRetry, children }: ProblemProps) {
  if (failure.advice === '') return <Empty>{failure.title}.</Empty>;
  return (
    <div className="problem" role="alert">
      <strong>{failure.title}</strong>
      <p>{failure.advice}</p>
      {onRetry !== undefined && failure.code !== Code.NotFound && <Button onPress={onRetry}>{words.tryAgain}</Button>}
      {children}
    </div>
  );
}

interface ReadProps<Data> {
  readonly query: { readonly data: Data | undefined; readonly error: unknown; refetch(): unknown };
  /** What is read, such as "the slots". */
  readonly what: string;
  readonly elsewhere?: ReactNode;
  children(data: Data): ReactNode;
}

/** Shows what a query has read, that it is being read, or why it can't be. What was read before stays on show. */
export function Read<Data>({ query: { data, error, refetch }, what, elsewhere, children }: ReadProps<Data>) {
  return (
    <>
      {error !== null && (
        <Problem failure={describeFailure(error)} onRetry={() => void refetch()}>
          {elsewhere}
        </Problem>
      )}
      {data === undefined && error === null && <Loading what={what} />}
      {data !== undefined && children(data)}
    </>
  );
}

/** Shown if there is nothing to list: says what would stand there, and has the button that brings it. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return <div className="empty">{children}</div>;
}

type Look = 'good' | 'warn' | 'bad' | 'plain';

/** Shows a state in a word or two. */
export function Badge({ kind, children }: { readonly kind: Look; readonly children: ReactNode }) {
  return <span className={`badge ${kind}`}>{children}</span>;
}

/** Lists the fields of a record, except those without a value. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) =>
        value === undefined || value === '' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Shown if no page has the URL. */
export function NoSuchPage() {
  return (
    <Page title={words.frame.noPage}>
      <p>{words.frame.noPageAdvice}</p>
      <ButtonLink href="/">{words.frame.toOverview}</ButtonLink>
    </Page>
  );
}

/** Shown if a page could not be fetched or has a defect. */
export function BrokenPage() {
  const error = useRouteError();
  return (
    <Page title={words.frame.brokenPage}>
      <Problem failure={describeFailure(error)} />
      <Button onPress={() => location.reload()}>{words.frame.reload}</Button>
    </Page>
  );
}

/** Returns the page of the record whose id is in the path as `:id`. */
export function forRecord(RecordPage: ComponentType<{ readonly id: number }>) {
  return () => {
    const id = readId(useParams().id);
    return id === undefined ? <NoSuchPage /> : <RecordPage key={id} id={id} />;
  };
}
