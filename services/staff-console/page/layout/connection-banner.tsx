import type { ReactNode } from 'react';
import { useOnline } from './use-online.ts';

/** Says that the device is offline. Pending calls wait, and continue by themselves. */
export function ConnectionBanner(): ReactNode {
  if (useOnline()) return null;
  return (
    <p className="banner in-sight" role="status">
      You are offline. What you see may be out of date, and what you save is sent as soon as the connection is back.
    </p>
  );
}
