import { useEffect, useState } from 'react';

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
