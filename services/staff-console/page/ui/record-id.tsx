import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { NoSuchPage } from './wrong-page.tsx';

const largestId = 2 ** 31 - 1;

/** Shows the page of the record whose id is in the path as `:id`. */
export function WithRecordId({ children }: { readonly children: (id: number) => ReactNode }): ReactNode {
  const { id = '' } = useParams();
  if (!/^\d+$/.test(id) || Number(id) > largestId) return <NoSuchPage />;
  return children(Number(id));
}
