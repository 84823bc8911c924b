import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { History } from '../audit/history.tsx';
import { useNow } from '../business/time.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Loading, Page, Problem } from '../ui/page.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { ActiveButton } from './active-button.tsx';
import { ProductsSection } from './products-section.tsx';
import { CapacityButton } from './record/capacity-button.tsx';
import type { SectionEdit } from './record/section.ts';
import { ordersClose, SlotBadge } from './record/slot-state.tsx';
import { SequenceSection } from './sequence/sequence-section.tsx';
import { SnippetsSection } from './snippets/snippets-section.tsx';
import { TimesSection } from './times-section.tsx';
import './record/slots.css';

/** Shows a slot. The key resets the page for another slot, so that input for one is never saved to the other. */
export function Component(): ReactNode {
  return <WithRecordId>{(id) => <ReadSlot key={id} id={id} />}</WithRecordId>;
}

function ReadSlot({ id }: { readonly id: number }): ReactNode {
  const [editing, setEditing] = useState<string>();
  const now = useNow(20_000);
  const { data, error, refetch } = useQuery(SlotService.method.getSlotById, { id });
  const slot = data?.slot;
  const title = `Slot ${id}`;
  if (slot === undefined) {
    return (
      <Page title={title}>
        {error === null ? (
          <Loading what="the slot" />
        ) : (
          <Problem failure={describeFailure(error)} onRetry={() => void refetch()}>
            <ButtonLink href="/slots">All slots</ButtonLink>
          </Problem>
        )}
      </Page>
    );
  }
  const read = async () => (await refetch()).data?.slot;
  const edit = (section: string): SectionEdit => ({
    isOpen: editing === section,
    isBlocked: editing !== undefined && editing !== section,
    open: () => setEditing(section),
    close: () => setEditing(undefined),
  });
  const left = ordersClose(slot, now);
  return (
    <Page
      title={title}
      beside={
        <>
          <SlotBadge slot={slot} now={now} />
          {slot.isActive && (
            <span className="detail">{left === undefined ? 'Orders closed' : `Orders close in ${left}`}</span>
          )}
        </>
      }
      actions={
        <>
          <CapacityButton slot={slot} now={now} isDisabled={editing !== undefined} />
          <ButtonLink href={`/slots/new?like=${id}&days=1`}>Copy to the next day</ButtonLink>
          <ButtonLink href={`/slots/new?like=${id}&days=7`}>Copy to the next week</ButtonLink>
          <ActiveButton slot={slot} isDisabled={editing !== undefined} read={read} />
        </>
      }
    >
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      <TimesSection slot={slot} edit={edit('times')} read={read} />
      <ProductsSection slot={slot} edit={edit('products')} read={read} />
      <SnippetsSection slot={slot} edit={edit('snippets')} read={read} />
      <SequenceSection slot={slot} edit={edit('sequence')} />
      <History type="slot" id={slot.id} />
    </Page>
  );
}
