import { useIsFetching } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

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
