import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { fromTimeInput, timeInput } from '../business/time-input.ts';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import { TimeField } from '../forms/time-field.tsx';
import { useStaff } from '../lookup/names.ts';
import { Button } from '../ui/button.tsx';
import { describeMutation, kinds, mutations } from './trail/deeds.ts';
import { type Filters, noFilters, toParams } from './trail/filters.ts';

interface FilterFormProps {
  /** The filters in the URL. */
  readonly filters: Filters;
  /** The problems with the filters, by the fields of the request. */
  readonly problems: Readonly<Record<string, string>>;
  onFilter(filters: Filters): void;
}

const kindOptions = Object.entries(kinds).map(([kind, name]) => [kind, capitalize(name)] as const);
const mutationOptions = mutations.map((procedure) => [procedure, describeMutation(procedure)] as const);

/** The filters of the audit trail. They are applied together, so that no search runs for a half-typed name. */
export function FilterForm({ filters, problems, onFilter }: FilterFormProps): ReactNode {
  const [draft, setDraft] = useState(() => toDraft(filters));
  // A link or the browser's Back button may change the filters in the URL.
  const address = toParams(filters).toString();
  const [shown, setShown] = useState(address);
  if (shown !== address) {
    setShown(address);
    setDraft(toDraft(filters));
  }
  const field = (name: keyof Filters) => ({
    value: draft[name],
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  const staff = useStaff();
  return (
    <Form
      className="card audit-filters"
      aria-label="Filters"
      validationErrors={{ ...problems }}
      onSubmit={(event) => {
        event.preventDefault();
        onFilter(fromDraft(draft));
      }}
    >
      <SelectField
        label="Kind of record"
        name="resourceType"
        none="All kinds"
        options={kindOptions}
        {...field('type')}
      />
      <TextField label="Number of the record" name="resourceId" inputMode="numeric" {...field('id')} />
      <SelectField
        label="Made by"
        name="staffId"
        none="Anybody"
        options={[...staff].map(([number, name]) => [String(number), name] as const)}
        {...field('staff')}
      />
      <TextField label="Account" name="subject" hint="As the sign-in names it" {...field('by')} />
      <SelectField
        label="What was done"
        name="procedure"
        none="Anything"
        options={mutationOptions}
        {...field('procedure')}
      />
      <TimeField label="From" name="since" {...field('since')} />
      <TimeField label="Before" name="until" {...field('until')} />
      <div className="actions">
        <Button type="submit" emphasis="primary">
          Show
        </Button>
        <Button onPress={() => onFilter(noFilters)}>Clear the filters</Button>
      </div>
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
