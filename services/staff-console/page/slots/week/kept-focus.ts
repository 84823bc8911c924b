import { type FocusEvent, useLayoutEffect, useRef } from 'react';

/**
 * Keeps the keyboard's place where what has the focus leaves the page, such as a record that moves elsewhere.
 *
 * @param find returns where the keyboard goes on instead of an element that has left the page.
 * @returns the handlers of the element around all of it.
 */
export function useKeptFocus(find: (left: Element) => HTMLElement | null | undefined) {
  const last = useRef<Element>(undefined);
  // Before the next key.
  useLayoutEffect(() => {
    if (last.current === undefined || last.current.isConnected || document.activeElement !== document.body) return;
    find(last.current)?.focus();
  });
  return {
    onFocus: ({ target }: FocusEvent) => {
      last.current = target;
    },
    // An element that leaves the page may lose the focus before; one that stays is left by staff.
    onBlur: ({ target }: FocusEvent) => {
      setTimeout(() => {
        if (target.isConnected && last.current === target) last.current = undefined;
      });
    },
  };
}
