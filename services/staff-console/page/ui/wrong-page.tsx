import type { ComponentType } from 'react';
import { useParams, useRouteError } from 'react-router';
import { describeFailure } from '../rpc/failure.ts';
import { words } from '../words.ts';
import { Button, ButtonLink } from './button.tsx';
import { Page, Problem } from './page.tsx';
import { readId } from './text.ts';

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
