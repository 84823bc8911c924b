import { type ReactNode, useEffect, useRef, useState } from 'react';

/**
 * Lets the rows of a section's list open a dialog. When that is done, the keyboard goes on at the section's heading, because
 * the button that was pressed may be gone.
 *
 * @returns what opens a dialog, and what the section has to show.
 */
export function useRowDialog() {
  const [dialog, setDialog] = useState<(close: () => void, done: () => void) => ReactNode>();
  const [done, setDone] = useState(0);
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (done > 0) place.current?.closest('section')?.querySelector('h2')?.focus();
  }, [done]);
  const close = () => setDialog(undefined);
  const finish = () => {
    close();
    setDone(done + 1);
  };
  const open = (render: NonNullable<typeof dialog>) => setDialog(() => render);
  return { open, shown: <span ref={place}>{dialog?.(close, finish)}</span> };
}
