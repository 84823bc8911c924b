import { useIsFetching } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from 'react';

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

const retryMs = 1_000;

/**
 * Returns a component that is fetched when it is first shown, like React's `lazy`. What can't be fetched now, such as while
 * the device is offline, is fetched as soon as it can be: the page around it stays as it is.
 */
export function late<Props extends object>(fetch: () => Promise<ComponentType<Props>>) {
  const fetchAgain = async () => {
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    return untilFetched();
  };
  const untilFetched = (): Promise<{ readonly default: ComponentType<Props> }> =>
    fetch().then((Component) => ({ default: Component }), fetchAgain);
  const Fetched = lazy(untilFetched);
  return (props: Props) => (
    <Suspense>
      <Fetched {...props} />
    </Suspense>
  );
}
