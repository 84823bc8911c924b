import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { History } from '../audit/history.tsx';
import { formatTime, timeLeft, useNow } from '../business/time.tsx';
import { Bookings } from '../redemptions/bookings.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { words } from '../words.ts';
import { useLiveBookings } from './bookings/live-bookings.ts';
import { ProductsSection } from './products-section.tsx';
import { CapacityButton } from './record/capacity-button.tsx';
import type { SectionEdit } from './record/edit-section.tsx';
import { SlotBadge } from './record/slot-state.tsx';
import { slotTime } from './record/slot-time.ts';
import { SequenceSection } from './sequence/sequence-section.tsx';
import { SnippetsSection } from './snippets/snippets-section.tsx';
import { CapacitySection, TimesSection } from './times-section.tsx';
import { useActivation } from './use-activation.tsx';
import './record/slots.css';

const text = words.slot;

/** Shows a slot. The key resets the page for another slot, so that input for one is never saved to the other. */
export function Component() {
  return <WithRecordId>{(id) => <ReadSlot key={id} id={id} />}</WithRecordId>;
}

function ReadSlot({ id }: { readonly id: number }) {
  const [editing, setEditing] = useState<string>();
  const now = useNow(20_000);
  const live = useLiveBookings(id);
  const query = useQuery(SlotService.method.getSlotById, { id });
  const read = async () => (await query.refetch()).data?.slot;
  const slot = query.data?.slot;
  const { action, question } = useActivation({ id, slot, live, read });
  const edit = (section: string): SectionEdit => ({
    isOpen: editing === section,
    isBlocked: editing !== undefined && editing !== section,
    open: () => setEditing(section),
    close: () => setEditing(undefined),
  });
  // An action while a section is edited would change the slot's etag, as if somebody else had changed the slot.
  const more = [
    { name: text.copy.day, href: `/slots/new?like=${id}&days=1` },
    { name: text.copy.week, href: `/slots/new?like=${id}&days=7` },
    ...(editing === undefined ? [action] : []),
  ];
  return (
    <Page
      title={slot === undefined ? words.slots.slot(id) : slotTime(slot)}
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
            <ButtonLink href={`/slots/sheets?slot=${id}`}>{text.sheet}</ButtonLink>
          </>
        )
      }
      more={slot === undefined ? [] : more}
    >
      <Read
        query={{ ...query, data: slot }}
        what={text.what}
        elsewhere={<ButtonLink href="/slots">{text.all}</ButtonLink>}
      >
        {(shown) => (
          <div className="split">
            <div>
              <Bookings slotId={id} />
              <SequenceSection slot={shown} edit={edit('sequence')} />
              <ProductsSection slot={shown} edit={edit('products')} read={read} />
              <SnippetsSection slot={shown} edit={edit('snippets')} read={read} />
            </div>
            {/* Not sticky, as an aside is: a form in it is higher than the window. */}
            <div>
              <CapacitySection slot={shown} edit={edit('capacity')} read={read} live={live} />
              <TimesSection slot={shown} edit={edit('times')} read={read} live={live} />
              <History type="slot" id={id} />
            </div>
          </div>
        )}
      </Read>
      {question}
    </Page>
  );
}

/** Says when a slot closes, and how long it still takes orders. */
function describeEnd({ freezeTime }: SlotDetail, now: number): string {
  const left = freezeTime && timeLeft(timestampMs(freezeTime), now);
  return left === undefined ? text.hasClosed(formatTime(freezeTime)) : text.closes(formatTime(freezeTime), left);
}
