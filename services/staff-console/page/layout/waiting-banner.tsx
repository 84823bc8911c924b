import { useSyncExternalStore } from 'react';
import { giveUp, isWaiting, subscribeToWaiting } from '../rpc/patience.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';

/** Says that a service takes long to answer, and lets staff give up. It is in sight wherever the page is scrolled to. */
export function WaitingBanner() {
  const isShown = useSyncExternalStore(subscribeToWaiting, isWaiting);
  if (!isShown) return null;
  return (
    <div className="waiting notice" role="status">
      {words.frame.waiting}
      <Button onPress={giveUp}>{words.frame.stopWaiting}</Button>
    </div>
  );
}
