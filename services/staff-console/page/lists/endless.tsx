import { useEffect, useRef } from 'react';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';

interface EndlessProps {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Whether the last attempt failed. More is then loaded only on request. */
  readonly hasFailed?: boolean;
  onMore(): void;
}

/** The end of an incomplete list, which loads more when it comes into view or is pressed. */
export function Endless({ hasMore, isLoading, hasFailed = false, onMore }: EndlessProps) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null || !hasMore || isLoading || hasFailed) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onMore();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  });
  if (!hasMore) return null;
  return (
    <div ref={end} className="endless">
      <Button onPress={onMore} isPending={isLoading}>
        {isLoading ? words.lists.loading : words.lists.showMore}
      </Button>
    </div>
  );
}
