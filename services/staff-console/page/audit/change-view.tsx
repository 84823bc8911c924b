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
import { type ChangedField, describeValue } from './fields.ts';

const text = words.activity;

/** Shows how a change altered a field: its values before and after or, of a new record, its first value. */
export function ChangeView({ field }: { readonly field: ChangedField }) {
  const { name, before, after, isNew } = field;
  const ids = idsChanged(field);
  if (ids !== undefined) {
    if (isNew && Array.isArray(after)) return <Ids name={name} ids={ids.added} />;
    if (ids.added.length + ids.removed.length === 0) return text.sameInOtherOrder;
    return (
      <>
        <Ids name={name} ids={ids.added} heading={text.added} />{' '}
        <Ids name={name} ids={ids.removed} heading={text.removed} />
      </>
    );
  }
  if (isNew) return <Value name={name} value={after} />;
  const [earlier, later] = [before, after].map((value) => sequenceIn(name, value ?? {}));
  if (earlier && later) return <SequenceChange before={earlier} after={later} />;
  return (
    <>
      <Value name={name} value={before} /> <span aria-hidden="true">→</span>{' '}
      <span className="visually-hidden">{text.became}</span> <Value name={name} value={after} />
    </>
  );
}

/** Returns the ids that a change added to a field and removed from it; undefined if the field holds something else. */
function idsChanged({ before, after }: ChangedField) {
  if (Array.isArray(before) || Array.isArray(after)) {
    const [had, has] = [idsIn(before ?? []), idsIn(after ?? [])];
    return had && has && difference(had, has);
  }
  // A long list has only its changes.
  if (typeof after !== 'object' || after === null || Object.keys(after).sort().join() !== 'added,removed')
    return undefined;
  const [added, removed] = [idsIn(after.added), idsIn(after.removed)];
  return added && removed && { added, removed };
}

function idsIn(value: JsonValue | undefined): readonly number[] | undefined {
  return Array.isArray(value) && value.every((id) => typeof id === 'number') ? value : undefined;
}

const sequenceIn = (name: string, value: JsonValue) =>
  name === 'deliverySequence' ? readSequence(JSON.stringify(value)) : undefined;

/** Says whose orders were changed in a sequence, and which were added and removed. */
function SequenceChange({ before, after }: { readonly before: Sequence; readonly after: Sequence }) {
  const all = [...new Set([before, after].flatMap(Object.keys))];
  const users = all.filter((user) => String(before[user]) !== String(after[user]));
  const nameOf = useUserNames(users.map(Number));
  return (
    <ul>
      {users.map((user) => {
        const { added, removed } = difference(before[user] ?? [], after[user] ?? []);
        const parts = [
          added.length > 0 && text.addedStops(added.join(', ')),
          removed.length > 0 && text.removedStops(removed.join(', ')),
        ];
        return (
          <li key={user}>
            {nameOf(Number(user))}: {parts.filter(Boolean).join('; ') || text.otherOrder}
          </li>
        );
      })}
    </ul>
  );
}

// Longer JSON is collapsed.
const shortText = 80;

function Value({ name, value = null }: { readonly name: string; readonly value: JsonValue | undefined }) {
  if (typeof value === 'number' && name in idLists) return <Ids name={name} ids={[value]} />;
  const short = describeValue(name, value, formatDate);
  if (short !== undefined) return short;
  if (Object.keys(value ?? {}).length === 0) return text.empty;
  const sequence = sequenceIn(name, value);
  if (sequence !== undefined) {
    const count = Object.keys(sequence).length;
    return <Expandable summary={text.ordersOf(count)}>{() => <StoredSequence sequence={sequence} />}</Expandable>;
  }
  const snippets = snippetsIn(value);
  const json = JSON.stringify(value);
  if (snippets === undefined && json.length <= shortText) return <code>{json}</code>;
  const long = JSON.stringify(value, undefined, 1);
  return <Expandable summary={snippets ?? text.show}>{() => <pre>{long}</pre>}</Expandable>;
}

/** Returns the names of the vendor snippets in a value; undefined for any other value. */
function snippetsIn(value: JsonValue): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.map((each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? each.snippetCode : undefined,
  );
  return names.includes(undefined) ? undefined : names.join(', ');
}

// Nobody reads more ids than these, collapsed and expanded.
const idsShown = 5;
const idsOpened = 500;

interface IdListProps {
  readonly ids: readonly number[];
}

interface IdsProps extends IdListProps {
  readonly name: string;
  readonly heading?: (count: number) => string;
}

/** Shows the names of ids: the first ones at once, more on request. */
function Ids({ name, ids, heading }: IdsProps) {
  const List = idLists[name] ?? Numbers;
  const rest = ids.length - idsShown;
  if (ids.length === 0) return null;
  return (
    <>
      {heading !== undefined && `${heading(ids.length)}: `}
      <List ids={ids.slice(0, idsShown)} />
      {rest > 0 && (
        <Expandable summary={text.andMore(rest)}>{() => <List ids={ids.slice(idsShown, idsOpened)} />}</Expandable>
      )}
    </>
  );
}

const Numbers = ({ ids }: IdListProps) => ids.join(', ');
const Products = ({ ids }: IdListProps) => ids.map(useProductNames(ids)).join(', ');
const Users = ({ ids }: IdListProps) => ids.map(useUserNames(ids)).join(', ');
const Groups = ({ ids }: IdListProps) => groupNames(useGroups(), ids);

function Staff({ ids }: IdListProps) {
  const staff = useStaff();
  return ids.map((id) => staff.get(id) ?? words.coupon.staff(id)).join(', ');
}

const linksTo =
  (path: string, name: string) =>
  ({ ids }: IdListProps) =>
    ids.map((id) => (
      <Link key={id} href={`${path}/${id}`}>
        {name} {id}
      </Link>
    ));

/** How the records are named whose ids a field holds. */
const idLists: Readonly<Record<string, (props: IdListProps) => ReactNode>> = {
  ...{ productIds: Products, applicableProducts: Products, groupIds: Groups, createdBy: Staff },
  ...{ applicableUsers: Users, userId: Users, redeemedUser: Users },
  ...{ couponId: linksTo('/coupons', 'Coupon'), slotId: linksTo('/slots', 'Slot') },
};
