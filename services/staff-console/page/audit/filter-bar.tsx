import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useLocation, useNavigate } from 'react-router';
import { fromTimeInput, timeInput } from '../business/time-input.ts';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import type { Filters } from '../lists/filters.ts';
import { SavedFilters } from '../lists/views.tsx';
import { useStaff } from '../lookup/names.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';
import { describeMutation, mutations } from './trail/deeds.ts';
import type { FilterValues } from './trail/filters.ts';

interface FilterBarProps {
  readonly filters: Filters<keyof FilterValues>;
  /** The problems with the filters, by the fields of the request. */
  readonly problems: Record<string, string>;
}

const text = words.activity;
const kindOptions = Object.entries(text.kinds).map(
  ([kind, name]) => [kind, name.charAt(0).toUpperCase() + name.slice(1)] as const,
);
const mutationOptions = mutations.map((procedure) => [procedure, describeMutation(procedure)] as const);

/** The filters of the trail. What is chosen applies at once; what is typed, together, when it is sent. */
export function FilterBar({ filters: { values, set, field }, problems }: FilterBarProps) {
  const { search } = useLocation();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(() => ({ ...toDraft(values), search }));
  // A link or the browser's Back button may change the filters in the URL.
  if (draft.search !== search) setDraft({ ...toDraft(values), search });
  const [isOpen, setIsOpen] = useState([values.id, values.by, values.since, values.until].some(Boolean));
  const typed = (name: 'id' | 'by' | 'since' | 'until') => ({
    value: draft[name],
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  const staff = [...useStaff()].map(([number, name]) => [String(number), name] as const);
  return (
    <Form
      className="bar"
      aria-label={text.filters}
      validationErrors={problems}
      onSubmit={(event) => {
        event.preventDefault();
        const { id, by, since, until } = draft;
        set({ id: id.trim(), by: by.trim(), since: fromTimeInput(since), until: fromTimeInput(until) });
      }}
    >
      <SelectField label={text.when} none={text.anyTime} options={Object.entries(text.whens)} {...field('when')} />
      <SelectField label={text.person} none={text.anybody} options={staff} {...field('staff')} />
      <SelectField label={text.record} none={text.anyRecord} options={kindOptions} {...field('type')} />
      <SelectField label={text.change} none={text.anyChange} options={mutationOptions} {...field('procedure')} />
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
      {Object.values(values).some(Boolean) && (
        <Button emphasis="quiet" onPress={() => void navigate('/audit')}>
          {words.lists.clearFilters}
        </Button>
      )}
      <SavedFilters />
    </Form>
  );
}

/** Returns what the form's fields show, with times in the business's time zone. */
const toDraft = ({ id, by, since, until }: FilterValues) => ({
  ...{ id, by },
  ...{ since: toTimeInput(since), until: toTimeInput(until) },
});

/** Converts a time in the URL for its field; empty if it is not a time. */
function toTimeInput(date: string): string {
  const time = new Date(date);
  return Number.isNaN(time.getTime()) ? '' : timeInput(time);
}
