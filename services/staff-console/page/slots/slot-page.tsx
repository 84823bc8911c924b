import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { History } from '../audit/history.tsx';
import { formatDate, useNow } from '../business/time.tsx';
import { useQuestion } from '../forms/question.tsx';
import { Bookings } from '../redemptions/bookings.tsx';
import type { Undone } from '../rpc/notices.ts';
import { useWrite } from '../rpc/write.ts';
import { ButtonLink } from '../ui/button.tsx';
import { forRecord, Page, Read } from '../ui/page.tsx';
import { words } from '../words.ts';
import { type LiveBookings, useLiveBookings } from './bookings/live-bookings.ts';
import { draftOf, emptyConcerns, planOf, updateOf, useTaken } from './record/draft.ts';
import { EditedContext } from './record/edit-section.tsx';
import { closesAt, ordersClose, SlotBadge, slotTime } from './record/slot-state.tsx';
import { CapacityButton } from './record/update-slots.tsx';
import { CapacitySection, ProductsSection, TimesSection } from './sections.tsx';
import { SequenceSection } from './sequence/sequence-section.tsx';
import { SnippetsSection } from './snippets/snippets.tsx';
import './record/slots.css';

const text = words.slot;
const closing = (slot: SlotDetail) => formatDate(new Date(closesAt(slot)));

/** Shows a slot. The key resets the page for another slot, so that input for one is never saved to the other. */
export const Component = forRecord(function ReadSlot({ id }) {
  const [edited, edit] = useState('');
  const now = useNow(20_000);
  const live = useLiveBookings(id);
  const query = useQuery(SlotService.method.getSlotById, { id });
  const read = async () => (await query.refetch()).data?.slot;
  const slot = query.data?.slot;
  const { activation, question } = useActivation(id, slot, live, read);
  const all = <ButtonLink href="/slots">{text.all}</ButtonLink>;
  const ofSlot = slot && {
    beside: (
      <>
        <SlotBadge slot={slot} now={now} />
        {slot.isActive && <span className="detail">{text.closes(closing(slot), ordersClose(slot, now))}</span>}
      </>
    ),
    actions: (
      <>
        <CapacityButton slot={slot} now={now} isDisabled={edited !== ''} />
        <ButtonLink href={`/slots/sheets?slot=${id}`}>{text.sheet}</ButtonLink>
      </>
    ),
    more: [
      { name: text.copy.day, href: `/slots/new?like=${id}&days=1` },
      { name: text.copy.week, href: `/slots/new?like=${id}&days=7` },
      // While a section is edited, it would change the slot's etag, as if somebody else had changed the slot.
      ...(edited === '' ? [activation] : []),
    ],
  };
  return (
    <Page title={slot === undefined ? words.slots.slot(id) : slotTime(slot)} {...ofSlot}>
      <Read query={{ ...query, data: slot }} what={text.what} elsewhere={all}>
        {(shown) => {
          const props = { record: shown, read, onClose: () => edit('') };
          return (
            <EditedContext value={{ edited, edit }}>
              <div className="split">
                <div>
                  <Bookings slotId={id} />
                  <SequenceSection slotId={id} onClose={props.onClose} />
                  <ProductsSection {...props} />
                  <SnippetsSection {...props} />
                </div>
                {/* Not sticky, as an aside is: a form in it is higher than the window. */}
                <div>
                  <CapacitySection {...props} live={live} />
                  <TimesSection {...props} live={live} />
                  <History type="slot" id={id} />
                </div>
              </div>
            </EditedContext>
          );
        }}
      </Read>
      {question}
    </Page>
  );
});

/** Deactivates a slot, which can be undone, or activates it again, after a question if it looks like a mistake. */
function useActivation(
  id: number,
  slot: SlotDetail | undefined,
  live: LiveBookings,
  read: () => Promise<SlotDetail | undefined>,
) {
  const { updateSlot, deleteSlot } = SlotService.method;
  const name = words.slots.slot(id);
  const { send: update } = useWrite(updateSlot, () => ({ text: text.activated(id) }), name);
  const activate = (inactive: SlotDetail) => update({ ...updateOf(draftOf(inactive), inactive), isActive: true });
  const undo = async (): Promise<Undone> => {
    const now = await read();
    return now === undefined ? { failure: { title: text.unread } } : activate(now);
  };
  const { send: deactivate } = useWrite(deleteSlot, () => ({ text: text.deactivated(id), undo }), name);
  const isActive = slot?.isActive ?? true;
  const { taken, isChecking } = useTaken(slot === undefined || isActive ? [] : [planOf(slot)]);
  const ofActivation = [...taken, ...emptyConcerns(slot?.productSlots ?? [], slot?.groupIds ?? [])];
  const ofDeactivation = live.customers > 0 ? [text.concerns.booked(live.customers)] : [];
  const action = isActive ? words.slots.off.text : words.slots.on.text;
  const go = async () => {
    if (slot === undefined) return;
    const { failure } = await (isActive ? deactivate({ id, etag: slot.etag }) : activate(slot));
    // If somebody else changed the slot first, staff see the change before they press again.
    if (failure?.reason === 'ETAG_MISMATCH') await read();
  };
  const [concerns, isWaiting] = isActive ? [ofDeactivation, live.isCounting] : [ofActivation, isChecking];
  const { ask, question } = useQuestion(concerns, isWaiting, action, () => void go());
  return { activation: { name: action, run: ask }, question };
}
