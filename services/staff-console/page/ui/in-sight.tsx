import { startTransition, useEffect, useRef, useState } from 'react';

/** What is this near to the window's edges is drawn. */
const margin = '800px 0px';

const callbacks = new WeakMap<Element, (isNear: boolean) => void>();
let observer: IntersectionObserver | undefined;

/** Watches whether an element is in sight or near it. Returns what ends it. */
function watch(element: Element, onChange: (isNear: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) callbacks.get(target)?.(isIntersecting);
    },
    { rootMargin: margin },
  );
  callbacks.set(element, onChange);
  observer.observe(element);
  return () => observer?.unobserve(element);
}

/**
 * Tells whether an element is in sight or near it, so that only then its content has to be drawn. What has the focus
 * counts as in sight.
 *
 * @param estimatePx the height of the content before it was drawn for the first time.
 * @returns the element's ref, whether it is near, and the height of its content.
 */
export function useInSight<E extends HTMLElement>(estimatePx: number) {
  const ref = useRef<E>(null);
  const [isNear, setIsNear] = useState(false);
  const heightPx = useRef(estimatePx);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    let isFirstLook = true;
    return watch(element, (isNearNow) => {
      if (!isNearNow && element.contains(document.activeElement)) return;
      if (!isNearNow) heightPx.current = element.offsetHeight || heightPx.current;
      // What is in sight at first is drawn at once. Afterwards scrolling and keys go first.
      if (isFirstLook) setIsNear(isNearNow);
      else startTransition(() => setIsNear(isNearNow));
      isFirstLook = false;
    });
  }, []);
  return { ref, isNear, heightPx: heightPx.current };
}
