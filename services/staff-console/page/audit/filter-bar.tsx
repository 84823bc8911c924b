import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { fromTimeInput, timeInput } from '../business/time-input.ts';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import { SavedFilters } from '../lists/views.tsx';
import { useStaff } from '../lookup/names.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';
import { describeMutation, mutations } from './trail/deeds.ts';
import { type Filters, noFilters, toParams } from './trail/filters.ts';

interface FilterBarProps {
  /** The filters in the URL. */
  readonly filters: Filters;
  /** The problems with the filters, by the fields of the request. */
  readonly problems: Readonly<Record<string, string>>;
  onFilter(filters: Filters): void;
}

const text = words.activity;
const kindOptions = Object.entries(text.kinds).map(([kind, name]) => [kind, capitalize(name)] as const);
const mutationOptions = mutations.map((procedure) => [procedure, describeMutation(procedure)] as const);

/** The filters of the trail. What is chosen applies at once; what is typed, together, when it is sent. */
export function FilterBar({ filters, problems, onFilter }: FilterBarProps) {
  const [draft, setDraft] = useState(() => toDraft(filters));
  const [isOpen, setIsOpen] = useState([filters.id, filters.by, filters.since, filters.until].some(Boolean));
  // A link or the browser's Back button may change the filters in the URL.
  const address = toParams(filters).toString();
  const [shown, setShown] = useState(address);
  if (shown !== address) {
    setShown(address);
    setDraft(toDraft(filters));
  }
  const chosen = (name: keyof Filters) => ({
    name,
    value: filters[name],
    onChange: (value: string) => onFilter({ ...filters, [name]: value }),
  });
  const typed = (name: keyof Filters) => ({
    value: draft[name],
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  const staff = [...useStaff()].map(([number, name]) => [String(number), name] as const);
  return (
    <Form
      className="bar"
      aria-label={text.filters}
      validationErrors={{ ...problems }}
      onSubmit={(event) => {
        event.preventDefault();
        const { id, by, since, until } = fromDraft(draft);
        onFilter({ ...filters, id, by, since, until });
      }}
    >
      <SelectField label={text.when} none={text.anyTime} options={Object.entries(text.whens)} {...chosen('when')} />
      <SelectField label={text.person} none={text.anybody} options={staff} {...chosen('staff')} />
      <SelectField label={text.record} none={text.anyRecord} options={kindOptions} {...chosen('type')} />
      <SelectField label={text.change} none={text.anyChange} options={mutationOptions} {...chosen('procedure')} />
      {isOpen ? (
        <>
          <TextField label={text.recordNumber} name="resourceId" inputMode="numeric" {...typed('id')} />
          <TextField label={text.account} name="subject" placeholder={text.accountHint} {...typed('by')} />
          <TextField label={text.from} name="since" type="datetime-local" {...typed('since')} />
          <TextField label={text.before} name="until" type="datetime-local" {...typed('until')} />
          <Button type="submit">{text.show}</Button>
        </>
      ) : (
        <Button emphasis="quiet" onPress={() => setIsOpen(true)}>
          {text.more}
        </Button>
      )}
      {address !== '' && (
        <Button emphasis="quiet" onPress={() => onFilter(noFilters)}>
          {words.lists.clearFilters}
        </Button>
      )}
      <SavedFilters />
    </Form>
  );
}

/** Converts the filters for the form's fields, with times in the business's time zone. */
function toDraft(filters: Filters): Filters {
  return { ...filters, since: toTimeInput(filters.since), until: toTimeInput(filters.until) };
}

function fromDraft(draft: Filters): Filters {
  return { ...draft, since: fromTimeInput(draft.since), until: fromTimeInput(draft.until) };
}

/** Converts a time in the URL for its field; empty if it is not a time. */
function toTimeInput(date: string): string {
  const time = new Date(date);
  return Number.isNaN(time.getTime()) ? '' : timeInput(time);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
