import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { ReactNode } from 'react';
import { Badge } from '../../ui/page.tsx';
import { timeLeft } from '../../ui/time.tsx';

/** The fields of a slot that decide whether it takes orders. */
export interface SlotState {
  readonly isActive: boolean;
  readonly isCapacityFull: boolean;
  readonly freezeTime?: Timestamp | undefined;
}

/** Shows in a word whether a slot takes orders. Open means active, not full, and before its freeze time (design 4). */
export function SlotBadge({ slot, now }: { readonly slot: SlotState; readonly now: number }): ReactNode {
  if (!slot.isActive) return <Badge kind="plain">Deactivated</Badge>;
  if (ordersClose(slot, now) === undefined) return <Badge kind="plain">Closed</Badge>;
  return slot.isCapacityFull ? <Badge kind="bad">Full</Badge> : <Badge kind="good">Open</Badge>;
}

/** Returns how long a slot still takes orders; undefined after its freeze time. */
export function ordersClose({ freezeTime }: SlotState, now: number): string | undefined {
  return freezeTime === undefined ? undefined : timeLeft(timestampMs(freezeTime), now);
}
