import type { JsonValue } from '@bufbuild/protobuf';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { formatDate } from '../business/time.tsx';
import { difference } from '../forms/difference.tsx';
import { groupNames, useGroups, useProductNames, useStaff, useUserNames } from '../lookup/names.ts';
import { readSequence, type Sequence } from '../sequence/sequence.ts';
import { StoredSequence } from '../sequence/stored-sequence.tsx';
import { words } from '../words.ts';
import { Expandable } from './expandable.tsx';
import { type ChangedField, describeValue, idFields, idsChanged, idsIn } from './fields.ts';

const text = words.activity;

/** Shows how a change altered a field: its values before and after. With `isNew`, shows only its first value. */
export function ChangeView({ field, isNew }: { readonly field: ChangedField; readonly isNew: boolean }) {
  const { name, before, after } = field;
  const [had, has] = [idsIn(before), idsIn(after)];
  const isList = Array.isArray(before) || Array.isArray(after);
  if (isList && had !== undefined && has !== undefined) {
    return isNew ? <Ids name={name} ids={has} heading="" /> : <IdsChange name={name} {...difference(had, has)} />;
  }
  const changed = idFields.has(name) ? idsChanged(after) : undefined;
  if (changed !== undefined) return <IdsChange name={name} {...changed} />;
  if (isNew) return <Value name={name} value={after} />;
  if (name === 'deliverySequence') {
    const [earlier, later] = [before, after].map((value) => readSequence(JSON.stringify(value ?? {})));
    if (earlier && later) return <SequenceChange before={earlier} after={later} />;
  }
  return (
    <>
      <Value name={name} value={before} /> <span aria-hidden="true">→</span>{' '}
      <span className="visually-hidden">{text.became}</span> <Value name={name} value={after} />
    </>
  );
}

/** Says whose orders were changed in a sequence, and which were added and removed. */
function SequenceChange({ before, after }: { readonly before: Sequence; readonly after: Sequence }) {
  const users = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (user) => String(before[user]) !== String(after[user]),
  );
  const nameOf = useUserNames(users.map(Number));
  return (
    <ul>
      {users.map((user) => {
        const { added, removed } = difference(before[user] ?? [], after[user] ?? []);
        const parts = [
          ...(added.length > 0 ? [text.addedStops(added.join(', '))] : []),
          ...(removed.length > 0 ? [text.removedStops(removed.join(', '))] : []),
        ];
        return (
          <li key={user}>
            {nameOf(Number(user))}: {parts.join('; ') || text.otherOrder}
          </li>
        );
      })}
    </ul>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: JsonValue | undefined }) {
  const Named = records[name];
  if (Named !== undefined && typeof value === 'number') return <Named ids={[value]} />;
  const short = describeValue(name, value, formatDate);
  if (short !== undefined || value === undefined) return <span>{short}</span>;
  if (Object.keys(value ?? {}).length === 0) return <span>{text.empty}</span>;
  const [json, long] = [JSON.stringify(value), JSON.stringify(value, undefined, 1)];
  const sequence = name === 'deliverySequence' ? readSequence(json) : undefined;
  if (sequence !== undefined) {
    const count = Object.keys(sequence).length;
    return <Expandable summary={text.ordersOf(count)}>{() => <StoredSequence sequence={sequence} />}</Expandable>;
  }
  const snippets = snippetsIn(value);
  if (snippets === undefined && json.length <= shortText) return <code>{json}</code>;
  return <Expandable summary={snippets ?? text.show}>{() => <pre>{long}</pre>}</Expandable>;
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

function IdsChange({ name, added, removed }: IdsChangeProps) {
  if (added.length + removed.length === 0) return <span>{text.sameInOtherOrder}</span>;
  return (
    <>
      {added.length > 0 && <Ids name={name} ids={added} heading={text.added(added.length)} />}{' '}
      {removed.length > 0 && <Ids name={name} ids={removed} heading={text.removed(removed.length)} />}
    </>
  );
}

// Nobody reads more ids than these, collapsed and expanded.
const idsShown = 5;
const idsOpened = 500;

interface IdsProps {
  readonly name: string;
  readonly ids: readonly number[];
  /** What stands before them. */
  readonly heading: string;
}

/** Shows the names of ids after a few words: the first ones at once, more on request. */
function Ids({ name, ids, heading }: IdsProps) {
  const List = lists[name] ?? Numbers;
  const rest = ids.length - idsShown;
  return (
    <>
      {heading !== '' && `${heading}: `}
      <List ids={ids.slice(0, idsShown)} />
      {rest > 0 && (
        <Expandable summary={text.andMore(rest)}>{() => <List ids={ids.slice(idsShown, idsOpened)} />}</Expandable>
      )}
    </>
  );
}

interface IdListProps {
  readonly ids: readonly number[];
}

const Numbers = ({ ids }: IdListProps) => <span>{ids.join(', ')}</span>;

function Products({ ids }: IdListProps) {
  return <span>{ids.map(useProductNames(ids)).join(', ')}</span>;
}

function Users({ ids }: IdListProps) {
  return <span>{ids.map(useUserNames(ids)).join(', ')}</span>;
}

function Groups({ ids }: IdListProps) {
  return <span>{groupNames(useGroups(), ids)}</span>;
}

function Staff({ ids }: IdListProps) {
  const staff = useStaff();
  return <span>{ids.map((id) => staff.get(id) ?? `Staff number ${id}`).join(', ')}</span>;
}

function Coupons({ ids }: IdListProps) {
  return ids.map((id) => (
    <Link key={id} href={`/coupons/${id}`}>
      Coupon {id}
    </Link>
  ));
}

function Slots({ ids }: IdListProps) {
  return ids.map((id) => (
    <Link key={id} href={`/slots/${id}`}>
      Slot {id}
    </Link>
  ));
}

/** How the record is named whose id a field holds. */
const records: Readonly<Record<string, (props: IdListProps) => ReactNode>> = {
  createdBy: Staff,
  userId: Users,
  redeemedUser: Users,
  couponId: Coupons,
  slotId: Slots,
};

/** How the ids in a field are named. */
const lists: Readonly<Record<string, (props: IdListProps) => ReactNode>> = {
  productIds: Products,
  applicableProducts: Products,
  applicableUsers: Users,
  groupIds: Groups,
};
