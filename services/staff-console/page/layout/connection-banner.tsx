import { onlineManager } from '@tanstack/react-query';
import { type ReactNode, useSyncExternalStore } from 'react';

const subscribe = (listener: () => void) => onlineManager.subscribe(listener);

/** Says that the device is offline. Pending calls wait, and continue by themselves. */
export function ConnectionBanner(): ReactNode {
  const isOnline = useSyncExternalStore(subscribe, () => onlineManager.isOnline());
  if (isOnline) return null;
  return (
    <p className="banner in-sight" role="status">
      You are offline. What you see may be out of date, and what you save is sent as soon as the connection is back.
    </p>
  );
}
