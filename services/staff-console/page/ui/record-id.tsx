import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { readId } from './text.ts';
import { NoSuchPage } from './wrong-page.tsx';

/** Shows the page of the record whose id is in the path as `:id`. */
export function WithRecordId({ children }: { readonly children: (id: number) => ReactNode }) {
  const id = readId(useParams().id);
  return id === undefined ? <NoSuchPage /> : children(id);
}
