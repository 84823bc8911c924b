import type { ReactNode } from 'react';
import { useRouteError } from 'react-router';
import { describeFailure } from '../rpc/failure.ts';
import { Button, ButtonLink } from './button.tsx';
import { Page, Problem } from './page.tsx';

/** Shown if no page has the URL. */
export function NoSuchPage(): ReactNode {
  return (
    <Page title="There is no such page">
      <p>The address may be mistyped, or from an older release.</p>
      <ButtonLink href="/slots">Go to the slots</ButtonLink>
    </Page>
  );
}

/** Shown if a page could not be fetched or has a defect. */
export function BrokenPage(): ReactNode {
  const error = useRouteError();
  return (
    <Page title="This page can’t be shown">
      <Problem failure={describeFailure(error)} />
      <Button onPress={() => location.reload()}>Load it again</Button>
    </Page>
  );
}
