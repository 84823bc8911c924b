import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { TextFieldProps } from '../forms/text-field.tsx';
import { pauseMs } from '../ui/pauses.tsx';
import type { Order } from './column.tsx';

/** The filters and the order of a list, kept in the page's URL, so that staff can share them and go back to them. */
export interface Filters<Name extends string> {
  readonly values: Readonly<Record<Name, string>>;
  /** The order, in the URL as `sort`: "Code", or "-Code" for descending. */
  readonly order: Order;
  set(changed: Partial<Record<Name | 'sort', string>>): void;
  field(name: Name): { readonly name: Name; readonly value: string; onChange(value: string): void };
}

/** Returns the filters of a list by their names in the URL. */
export function useFilters<Name extends string>(names: readonly Name[]): Filters<Name> {
  const [params, setParams] = useSearchParams();
  const values = Object.assign({}, ...names.map((name) => ({ [name]: params.get(name) ?? '' })));
  const set: Filters<Name>['set'] = (changed) => setParams(withFilters(changed));
  const sort = params.get('sort') ?? '';
  const by = sort.replace(/^-/, '');
  const isDescending = sort !== by;
  return {
    values,
    order: {
      by,
      direction: isDescending ? 'descending' : 'ascending',
      sort: (title) => setParams(withFilters({ sort: by !== title ? title : isDescending ? '' : `-${title}` })),
    },
    set,
    field: (name) => ({ name, value: values[name], onChange: (value) => setParams(withFilters({ [name]: value })) }),
  };
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

/** A search that the page's URL keeps, as `?search=`. */
export interface Search {
  /** The text to search for: the field's text without the spaces around it, once typing has paused. */
  readonly search: string;
  readonly field: Pick<TextFieldProps, 'type' | 'autoComplete' | 'value' | 'onChange'>;
}

/** Keeps a search in the page's URL, so that staff can share it and find it again after "Back". */
export function useSearch(): Search {
  const [params, setParams] = useSearchParams();
  const search = params.get('search') ?? '';
  const [text, setText] = useState(search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Another URL was opened on the same page. What was typed gets there, too, but that must not reset the text.
  const shown = useRef(search);
  useEffect(() => {
    if (shown.current === search) return;
    shown.current = search;
    setText(search);
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onChange = (typed: string) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      shown.current = typed;
      setParams(withFilters({ search: typed }), { replace: true });
    }, pauseMs);
  };
  return { search: search.trim(), field: { type: 'search', autoComplete: 'off', value: text, onChange } };
}
