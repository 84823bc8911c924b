import { useEffect, useRef, useState } from 'react';
import { NavigationType, useLocation, useNavigationType, useSearchParams } from 'react-router';
import { pauseMs } from './use-debounced.ts';

/** A search that the page's address keeps, as `?search=`. */
export interface Search {
  /** What the field shows. */
  readonly text: string;
  /** What is searched for: the text, once typing has paused. */
  readonly search: string;
  type(text: string): void;
}

/** Keeps a search in the page's address, so that it can be sent to others and is there after "Back". */
export function useSearch(): Search {
  const [params, setParams] = useSearchParams();
  const search = params.get('search') ?? '';
  const [text, setText] = useState(search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { key } = useLocation();
  const isOwn = useNavigationType() === NavigationType.Replace;
  // Another address was opened on the same page. Typing replaces the address, and must not be set back by it.
  const [seen, setSeen] = useState(key);
  if (seen !== key) {
    setSeen(key);
    if (!isOwn) setText(search);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    text,
    search,
    type(typed) {
      setText(typed);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setParams(typed === '' ? {} : { search: typed }, { replace: true }), pauseMs);
    },
  };
}
