import { type ReactNode, use } from 'react';
import { Link } from 'react-aria-components/Link';
import type { PlannedSlot } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { Time } from '../../business/time.tsx';
import { ChosenContext } from '../../lists/chosen.ts';
import { groupNames } from '../../lookup/names.ts';
import { CapacityButton } from '../record/capacity-button.tsx';
import { describeEnd, ordersClose, SlotBadge, stateOf } from '../record/slot-state.tsx';

/** The views of the slots, by their paths. */
export const slotViews = [
  ['/slots', 'Calendar'],
  ['/slots/list', 'List'],
] as const;

interface SlotCardProps {
  readonly slot: PlannedSlot;
  /** In Unix ms. */
  readonly now: number;
  readonly groups: ReadonlyMap<number, string>;
}

/** A slot in the calendar: its time, whether and for how long it takes orders, its groups and its products. */
export function SlotCard({ slot, now, groups }: SlotCardProps): ReactNode {
  const left = ordersClose(slot, now);
  return (
    <li className={`card slot-card ${stateOf(slot, now)}`} draggable>
      <div className="slot-card-header">
        <ChooseBox id={slot.id} />
        <Link href={`/slots/${slot.id}`} data-place={slot.id}>
          <Time at={slot.deliveryTime} short /> <span className="detail">Slot {slot.id}</span>
        </Link>
        <SlotBadge slot={slot} now={now} />
      </div>
      <p>
        {left === undefined ? (
          <>
            Orders closed <Time at={slot.freezeTime} />
          </>
        ) : (
          describeEnd(slot, now)
        )}
      </p>
      <p className="detail one-line">{describeProducts(slot)}</p>
      {slot.groupIds.length > 0 && <p className="detail one-line">{groupNames(groups, slot.groupIds)}</p>}
      <CapacityButton slot={slot} now={now} />
    </li>
  );
}

/** Chooses a slot or, with Shift, all slots from the one that was chosen last. */
function ChooseBox({ id }: { readonly id: number }): ReactNode {
  const chosen = use(ChosenContext);
  return (
    <input
      type="checkbox"
      aria-label={`Choose slot ${id}`}
      checked={chosen.has(id)}
      onClick={({ shiftKey }) => chosen.choose(id, shiftKey)}
      readOnly
    />
  );
}

/** Says how many products a slot has, and names the first ones. */
export function describeProducts({ productCount, productNames }: PlannedSlot): string {
  if (productCount === 0) return 'No products';
  return `${productCount} ${productCount === 1 ? 'product' : 'products'}: ${productNames.join(', ')}`;
}
