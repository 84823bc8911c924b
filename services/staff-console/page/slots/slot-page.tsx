import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { History } from '../audit/history.tsx';
import { useNow } from '../business/time.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { ActiveButton } from './active-button.tsx';
import { ProductsSection } from './products-section.tsx';
import { CapacityButton } from './record/capacity-button.tsx';
import type { SectionEdit } from './record/edit-section.tsx';
import { describeEnd, SlotBadge } from './record/slot-state.tsx';
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
  const query = useQuery(SlotService.method.getSlotById, { id });
  const read = async () => (await query.refetch()).data?.slot;
  const edit = (section: string): SectionEdit => ({
    isOpen: editing === section,
    isBlocked: editing !== undefined && editing !== section,
    open: () => setEditing(section),
    close: () => setEditing(undefined),
  });
  const slot = query.data?.slot;
  return (
    <Page
      title={`Slot ${id}`}
      beside={
        slot !== undefined && (
          <>
            <SlotBadge slot={slot} now={now} />
            {slot.isActive && <span className="detail">{describeEnd(slot, now)}</span>}
          </>
        )
      }
      actions={
        slot !== undefined && (
          <>
            <CapacityButton slot={slot} now={now} isDisabled={editing !== undefined} />
            <ButtonLink href={`/slots/new?like=${id}&days=1`}>Copy to the next day</ButtonLink>
            <ButtonLink href={`/slots/new?like=${id}&days=7`}>Copy to the next week</ButtonLink>
            <ButtonLink href={`/slots/sheets?slot=${id}`}>Run sheet</ButtonLink>
            <ActiveButton slot={slot} isDisabled={editing !== undefined} read={read} />
          </>
        )
      }
    >
      <Read
        query={{ ...query, data: slot }}
        what="the slot"
        elsewhere={<ButtonLink href="/slots">All slots</ButtonLink>}
      >
        {(shown) => (
          <>
            <TimesSection slot={shown} edit={edit('times')} read={read} />
            <ProductsSection slot={shown} edit={edit('products')} read={read} />
            <SnippetsSection slot={shown} edit={edit('snippets')} read={read} />
            <SequenceSection slot={shown} edit={edit('sequence')} />
            <History type="slot" id={id} />
          </>
        )}
      </Read>
    </Page>
  );
}
