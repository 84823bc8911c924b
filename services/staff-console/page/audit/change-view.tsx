import type { JsonValue } from '@bufbuild/protobuf';
import type { ReactNode } from 'react';
import { difference } from '../forms/difference.tsx';
import { useProductNames } from '../lookup/catalog.ts';
import { formatDate } from '../ui/time.tsx';
import { Expandable } from './expandable.tsx';
import { type ChangedField, describeValue, idFields, idsChanged, idsIn, productFields } from './fields.ts';

/** Shows how a change altered a field: its values before and after. With `isNew`, shows only its first value. */
export function ChangeView({ field, isNew }: { readonly field: ChangedField; readonly isNew: boolean }): ReactNode {
  const { name, before, after } = field;
  const [had, has] = [idsIn(before), idsIn(after)];
  const isList = Array.isArray(before) || Array.isArray(after);
  if (isList && had !== undefined && has !== undefined) {
    return isNew ? <Ids name={name} ids={has} words="" /> : <IdsChange name={name} {...difference(had, has)} />;
  }
  const changed = idFields.has(name) ? idsChanged(after) : undefined;
  if (changed !== undefined) return <IdsChange name={name} {...changed} />;
  if (isNew) return <Value name={name} value={after} />;
  return (
    <>
      <Value name={name} value={before} /> <span aria-hidden="true">→</span>{' '}
      <span className="visually-hidden">became</span> <Value name={name} value={after} />
    </>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: JsonValue | undefined }): ReactNode {
  const words = describeValue(name, value, formatDate);
  if (words !== undefined || value === undefined) return <span>{words}</span>;
  if (Object.keys(value ?? {}).length === 0) return <span>Empty</span>;
  const [short, long] = [JSON.stringify(value), JSON.stringify(value, undefined, 1)];
  const snippets = snippetsIn(value);
  if (snippets === undefined && short.length <= shortText) return <code>{short}</code>;
  return <Expandable summary={snippets ?? 'Show'}>{() => <pre>{long}</pre>}</Expandable>;
}

// Longer JSON is collapsed.
const shortText = 80;

/** Returns the names of the vendor snippets in a value; undefined for any other value. */
function snippetsIn(value: JsonValue): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.map((each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? each.snippetCode : undefined,
  );
  return names.includes(undefined) ? undefined : names.join(', ');
}

interface IdsChangeProps {
  readonly name: string;
  readonly added: readonly number[];
  readonly removed: readonly number[];
}

function IdsChange({ name, added, removed }: IdsChangeProps): ReactNode {
  if (added.length + removed.length === 0) return <span>The same ones in another order</span>;
  return (
    <>
      {added.length > 0 && <Ids name={name} ids={added} words={`+${added.length} added`} />}{' '}
      {removed.length > 0 && <Ids name={name} ids={removed} words={`${removed.length} removed`} />}
    </>
  );
}

// Nobody reads more ids than these, collapsed and expanded.
const idsShown = 5;
const idsOpened = 500;

/** Shows ids after a few words: the first ones at once, more on request. */
function Ids({ name, ids, words }: { readonly name: string; readonly ids: readonly number[]; readonly words: string }) {
  const rest = ids.length - idsShown;
  const first = `${words === '' ? '' : `${words}: `}${ids.slice(0, idsShown).join(', ')}`;
  if (rest <= 0 && !productFields.has(name)) return <span>{first}</span>;
  return (
    <Expandable summary={rest > 0 ? `${first} and ${rest} more` : first}>
      {() => (productFields.has(name) ? <ProductList ids={ids} /> : <IdList ids={ids} nameOf={String} />)}
    </Expandable>
  );
}

function ProductList({ ids }: { readonly ids: readonly number[] }): ReactNode {
  const nameOf = useProductNames(ids.slice(0, idsOpened));
  return <IdList ids={ids} nameOf={(id) => `${nameOf(id)} (№ ${id})`} />;
}

function IdList({ ids, nameOf }: { readonly ids: readonly number[]; readonly nameOf: (id: number) => string }) {
  const rest = ids.length - idsOpened;
  return (
    <p>
      {ids.slice(0, idsOpened).map(nameOf).join(', ')}
      {rest > 0 && ` and ${rest} more`}
    </p>
  );
}
