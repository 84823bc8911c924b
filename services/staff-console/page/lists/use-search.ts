import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { TextFieldProps } from '../forms/text-field.tsx';
import { pauseMs } from '../ui/pauses.ts';
import { withFilters } from './filters.ts';

/** A search that the page's URL keeps, as `?search=`. */
export interface Search {
  /** The text to search for: the field's text, once typing has paused. */
  readonly search: string;
  /** The properties of the search field. */
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
  return {
    search,
    field: {
      type: 'search',
      autoComplete: 'off',
      value: text,
      onChange(typed) {
        setText(typed);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
          shown.current = typed;
          setParams(withFilters({ search: typed }), { replace: true });
        }, pauseMs);
      },
    },
  };
}
