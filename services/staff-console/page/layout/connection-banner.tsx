import { words } from '../words.ts';
import { useOnline } from './use-online.ts';

/** Says that the device is offline. Pending calls wait, and continue by themselves. */
export function ConnectionBanner() {
  if (useOnline()) return null;
  return (
    <p className="banner in-sight" role="status">
      {words.frame.offline}
    </p>
  );
}
