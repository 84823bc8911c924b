import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { type Slot, SlotService } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { Choice } from '../../forms/choice.tsx';
import { groupNames, useGroups } from '../../lookup/catalog.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Endless } from '../../ui/endless.tsx';
import { Empty, Loading, Page, Problem } from '../../ui/page.tsx';
import { Time, useNow } from '../../ui/time.tsx';
import { CapacityButton } from '../record/capacity-button.tsx';
import { ordersClose, SlotBadge } from '../record/slot-state.tsx';
import { SlotViews } from './slot-views.tsx';
import '../record/slots.css';

const rowsAtOnce = 100;
const shown = { all: 'All', open: 'Open', full: 'Full', closed: 'Closed' };

/** Lists all active slots, the latest delivery first. */
export function Component(): ReactNode {
  const { data, error, refetch } = useQuery(SlotService.method.getSlots, {});
  const groups = useGroups();
  const now = useNow(20_000);
  const [filter, setFilter] = useState<keyof typeof shown>('all');
  const [rows, setRows] = useState(rowsAtOnce);
  const timeOf = ({ deliveryTime }: Slot) => (deliveryTime === undefined ? 0 : timestampMs(deliveryTime));
  const slots = (data?.slots ?? [])
    .filter((slot) => filter === 'all' || stateOf(slot, now) === filter)
    .sort((a, b) => timeOf(b) - timeOf(a));
  return (
    <Page
      title="Slots"
      actions={
        <ButtonLink href="/slots/new" emphasis="primary">
          New slot
        </ButtonLink>
      }
    >
      <SlotViews>
        <Choice label="Show" value={filter} options={shown} onChange={setFilter} />
      </SlotViews>
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the slots" />}
      {data !== undefined && slots.length === 0 && <Empty>No such slots.</Empty>}
      {slots.length > 0 && (
        <table className="list">
          <caption>{slots.length} slots</caption>
          <thead>
            <tr>
              <th scope="col">Slot</th>
              <th scope="col">Delivery</th>
              <th scope="col">Orders close</th>
              <th scope="col">State</th>
              <th scope="col">Groups</th>
              <th scope="col">Capacity</th>
            </tr>
          </thead>
          <tbody>
            {slots.slice(0, rows).map((slot) => (
              <tr key={slot.id}>
                <th scope="row">
                  <Link href={`/slots/${slot.id}`}>Slot {slot.id}</Link>
                </th>
                <td data-label="Delivery">
                  <Time at={slot.deliveryTime} />
                </td>
                <td data-label="Orders close">
                  <Time at={slot.freezeTime} />
                </td>
                <td data-label="State">
                  <SlotBadge slot={slot} now={now} />
                </td>
                <td data-label="Groups">{groupNames(groups, slot.groupIds)}</td>
                <td data-label="Capacity">
                  <CapacityButton slot={slot} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Endless hasMore={rows < slots.length} isLoading={false} onMore={() => setRows(rows + rowsAtOnce)} />
    </Page>
  );
}

function stateOf(slot: Slot, now: number): keyof typeof shown {
  if (ordersClose(slot, now) === undefined) return 'closed';
  return slot.isCapacityFull ? 'full' : 'open';
}
