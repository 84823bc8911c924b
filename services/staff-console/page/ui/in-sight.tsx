import { type ReactNode, useEffect, useRef, useState } from 'react';

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
 * stays drawn.
 *
 * @param estimatePx the height before it was drawn for the first time.
 * @returns the element's ref, whether to draw its content, and its height otherwise.
 */
export function useInSight<E extends HTMLElement>(estimatePx: number, isDrawnAtFirst: boolean) {
  const ref = useRef<E>(null);
  const [isDrawn, setIsDrawn] = useState(isDrawnAtFirst);
  const heightPx = useRef(estimatePx);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    return watch(element, (isNear) => {
      if (!isNear && element.contains(document.activeElement)) return;
      if (!isNear && element.childElementCount > 0) heightPx.current = element.offsetHeight || heightPx.current;
      setIsDrawn(isNear);
    });
  }, []);
  return { ref, isDrawn, heightPx: heightPx.current };
}

interface InSightProps {
  readonly className: string;
  readonly estimatePx: number;
  readonly isDrawnAtFirst?: boolean;
  /** Returns what is drawn. */
  readonly children: () => ReactNode;
}

/** Draws its content only while it is in sight or near it. */
export function InSight({ className, estimatePx, isDrawnAtFirst = false, children }: InSightProps): ReactNode {
  const { ref, isDrawn, heightPx } = useInSight<HTMLDivElement>(estimatePx, isDrawnAtFirst);
  return (
    <div ref={ref} className={className} style={isDrawn ? undefined : { blockSize: heightPx }}>
      {isDrawn && children()}
    </div>
  );
}
