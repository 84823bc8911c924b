import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'react-router';
import type { Failure } from '../rpc/failure.ts';
import { Button } from './button.tsx';

interface PageProps {
  /** The page's heading, and its name in the browser's tab. */
  readonly title: string;
  /** What stands beside the heading, such as the state of the record. */
  readonly beside?: ReactNode;
  /** What can be done with the whole page. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page. */
export function Page({ title, beside, actions, children }: PageProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  const { key, pathname } = useLocation();
  const isFirst = key === 'default';
  useEffect(() => {
    document.title = `${title} · Staff console`;
  }, [title]);
  // The keyboard and screen readers go on here, and not at the link that has gone with the page before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it depends on the page, and not on what happens on it.
  useEffect(() => {
    if (!isFirst) heading.current?.focus();
  }, [pathname]);
  return (
    <>
      <header className="page-header">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {beside}
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

interface SectionProps {
  /** The heading, by which the section is found, too. */
  readonly title: string;
  /** What can be done with what is in it. */
  readonly actions?: ReactNode;
  /** Whether it is being edited. */
  readonly isEditing?: boolean;
  readonly children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Section({ title, actions, isEditing = false, children }: SectionProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  const wasEditing = useRef(isEditing);
  // The button that was pressed is gone: the keyboard goes on at the heading.
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

/** Stands where something is still being read. */
export function Loading({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="loading" role="status">
      Loading {what}…
    </p>
  );
}

interface ProblemProps {
  readonly failure: Pick<Failure, 'title' | 'advice'>;
  /** Tries again what has failed. */
  readonly onRetry?: () => void;
}

/** Says what went wrong, and what to do. Where there is nothing to do, it says so without raising its voice. */
export function Problem({ failure, onRetry }: ProblemProps): ReactNode {
  if (failure.advice === '') return <Empty>{failure.title}.</Empty>;
  return (
    <div className="problem" role="alert">
      <strong>{failure.title}</strong>
      <p>{failure.advice}</p>
      {onRetry !== undefined && <Button onPress={onRetry}>Try again</Button>}
    </div>
  );
}

/** Stands where there is nothing to list. */
export function Empty({ children }: { readonly children: ReactNode }): ReactNode {
  return <p className="empty">{children}</p>;
}

/** A state in a word or two. */
export function Badge({
  kind,
  children,
}: {
  readonly kind: 'good' | 'bad' | 'plain';
  readonly children: ReactNode;
}): ReactNode {
  return <span className={`badge ${kind}`}>{children}</span>;
}

/** The fields of a record; those without a value are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }): ReactNode {
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
