import { useSearchParams } from 'react-router';

/** The filters and the order of a list, kept in the page's URL, so that staff can share them and go back to them. */
export interface Filters<Name extends string> {
  /** The value of each filter; empty for none. */
  readonly values: Readonly<Record<Name, string>>;
  set(changed: Partial<Record<Name, string>>): void;
  /** The properties of the field that edits a filter. */
  field(name: Name): { readonly name: Name; readonly value: string; onChange(value: string): void };
}

/** Returns the filters of a list by their names in the URL. */
export function useFilters<Name extends string>(names: readonly Name[]): Filters<Name> {
  const [params, setParams] = useSearchParams();
  const values = Object.assign({}, ...names.map((name) => ({ [name]: params.get(name) ?? '' })));
  const set: Filters<Name>['set'] = (changed) => setParams(withFilters(changed));
  const field = (name: Name) => ({
    name,
    value: values[name],
    onChange: (value: string) => setParams(withFilters({ [name]: value })),
  });
  return { values, set, field };
}

/** Returns a change of a URL's query that sets some filters, and removes those that are empty. */
export function withFilters(changed: Readonly<Record<string, string | undefined>>) {
  return (): URLSearchParams => {
    // Of the URL as it is now: another filter may have been set since the page was rendered.
    const next = new URLSearchParams(location.search);
    for (const [name, value = ''] of Object.entries(changed)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    return next;
  };
}
