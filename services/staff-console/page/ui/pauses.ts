import { useIsFetching } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

/** In ms. Typing pauses for longer than this between words, but not between letters. */
export const pauseMs = 250;

/** Returns the value once it has not changed for a moment. */
export function useDebounced<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

// Before anybody needs it.
const laterMs = 1_000;

/** Returns whether the page has read what it shows: then it has time to fetch what is not needed at first. */
export function useLater(): boolean {
  const isReading = useIsFetching() > 0;
  const hasBegun = useRef(false);
  const [isLater, setIsLater] = useState(false);
  useEffect(() => {
    hasBegun.current ||= isReading;
    if (isReading || isLater || !hasBegun.current) return undefined;
    const timer = setTimeout(() => setIsLater(true), laterMs);
    return () => clearTimeout(timer);
  }, [isReading, isLater]);
  return isLater;
}
