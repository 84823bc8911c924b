import { useSyncExternalStore } from 'react';

const wide = matchMedia('(width >= 60rem)');

/** Tells whether the window has room for seven days side by side. */
export function useWide(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      wide.addEventListener('change', onChange);
      return () => wide.removeEventListener('change', onChange);
    },
    () => wide.matches,
  );
}
