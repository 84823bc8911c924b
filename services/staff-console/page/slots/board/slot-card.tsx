import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import type { Slot } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { groupNames } from '../../lookup/catalog.ts';
import { Time } from '../../ui/time.tsx';
import { CapacityButton } from '../record/capacity-button.tsx';
import { ordersClose, SlotBadge } from '../record/slot-state.tsx';

interface SlotCardProps {
  readonly slot: Slot;
  /** In Unix ms. */
  readonly now: number;
  readonly groups: ReadonlyMap<number, string>;
  /** Undefined until the products are read. */
  readonly productIds: readonly number[] | undefined;
  /** How many of the products to name. */
  readonly named: number;
  readonly nameOf: (productId: number) => string;
}

/** A slot on the board: its time, whether and for how long it takes orders, its groups and its products. */
export function SlotCard({ slot, now, groups, productIds, named, nameOf }: SlotCardProps): ReactNode {
  const left = ordersClose(slot, now);
  return (
    <li className="card slot-card">
      <div className="slot-card-header">
        <Link href={`/slots/${slot.id}`}>
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
          `Orders close in ${left}`
        )}
      </p>
      {productIds !== undefined && <p>{describeProducts(productIds, named, nameOf)}</p>}
      {slot.groupIds.length > 0 && <p className="detail">{groupNames(groups, slot.groupIds)}</p>}
      <CapacityButton slot={slot} />
    </li>
  );
}

function describeProducts(ids: readonly number[], named: number, nameOf: (id: number) => string): string {
  if (ids.length === 0) return 'No products';
  const names = ids.slice(0, named).map(nameOf).join(', ');
  return ids.length > named ? `${names} and ${ids.length - named} more` : names;
}
