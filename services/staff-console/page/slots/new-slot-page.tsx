import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { formatDate, useNow } from '../business/time.tsx';
import { dateInput, readDay, readTimeInput, shiftDay } from '../business/time-input.ts';
import { EditForm } from '../forms/edit-form.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { Switch } from '../forms/switch.tsx';
import { ProductPicker } from '../lookup/pickers.tsx';
import { isSame } from '../rpc/merge.ts';
import { useWrite } from '../rpc/write.ts';
import { clock } from '../session/clock.ts';
import { Button } from '../ui/button.tsx';
import { Page, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import {
  concernsOf,
  draftOf,
  emptyConcerns,
  inputOf,
  newDraft,
  productsOf,
  type SlotDraft,
} from './record/slot-draft.ts';
import { slotTime } from './record/slot-time.ts';
import { plansOf, useTaken } from './record/use-taken.ts';
import {
  copySnippet,
  emptySnippet,
  type SnippetDraft,
  snippetConcerns,
  snippetInput,
} from './snippets/snippet-draft.ts';
import { SnippetFields } from './snippets/snippet-fields.tsx';
import { TimesFields } from './times-fields.tsx';

const { form: text, snippets: ofSnippets } = words.slot;

/** Creates a slot, either empty on the day or at the time in the URL, or as a copy of another one some days later. */
export function Component() {
  const [params] = useSearchParams();
  const like = readId(params.get('like'));
  const days = /^\d{1,4}$/.test(params.get('days') ?? '') ? Number(params.get('days')) : 0;
  const [day = '', time = '10:00'] = (params.get('at') ?? params.get('day') ?? '').split('T');
  const at = `${readDay(day) ?? shiftDay(dateInput(new Date(clock.now())), 1)}T${time}`;
  const input = like === undefined ? skipToken : { id: like };
  const query = useQuery(SlotService.method.getSlotById, input);
  const source = query.data?.slot;
  const form = (slot: SlotDetail | undefined) => (
    <NewSlotForm key={params.toString()} at={at} like={slot} days={days} />
  );
  return (
    <Page title={source === undefined ? words.slots.newSlot : text.copyTitle(slotTime(source))}>
      {like === undefined ? (
        form(undefined)
      ) : (
        <Read query={{ ...query, data: source }} what={words.slot.what}>
          {form}
        </Read>
      )}
    </Page>
  );
}

/** A new slot in the form. */
interface NewSlot {
  readonly times: SlotDraft;
  readonly isActive: boolean;
  readonly products: readonly Option[];
  readonly snippets: readonly SnippetDraft[];
}

interface NewSlotFormProps {
  /** When a new slot is delivered, such as 2026-11-23T10:00. */
  readonly at: string;
  readonly like: SlotDetail | undefined;
  readonly days: number;
}

function NewSlotForm({ at, like, days }: NewSlotFormProps) {
  const navigate = useNavigate();
  const now = useNow(20_000);
  const [start] = useState<NewSlot>(() => ({
    times: like === undefined ? newDraft(at) : draftOf(like, days),
    isActive: true,
    products: like === undefined ? [] : productsOf(like),
    snippets: [],
  }));
  const [draft, setDraft] = useState(start);
  const [isCreated, setIsCreated] = useState(false);
  const { times, isActive, products, snippets } = draft;
  const change = (part: Partial<NewSlot>) => setDraft({ ...draft, ...part });
  const { taken, isChecking } = useTaken(isActive ? plansOf(times) : []);
  const write = useWrite(SlotService.method.createSlot, ({ message }) => ({ text: message }));
  const send = async () => {
    const productIds = products.map(({ id }) => id);
    const { answer } = await write.send({
      ...inputOf(times),
      isActive,
      productIds,
      vendorSnippets: snippets.map(snippetInput),
    });
    if (answer?.slot === undefined) return;
    setIsCreated(true);
    // In the place of the form, which "Back" must not open again as it was sent.
    void navigate(`/slots/${answer.slot.id}`, { replace: true });
  };
  const left = like?.vendorSnippets.length ?? 0;
  return (
    <EditForm
      write={write}
      isDirty={!isCreated && !isSame(draft, start)}
      summary={summaryOf(draft, now)}
      concerns={[
        ...concernsOf(times, now),
        ...taken,
        ...(isActive ? emptyConcerns(products, times.groups) : []),
        ...snippets.flatMap((snippet) => snippetConcerns(snippet, now)),
      ]}
      isChecking={isChecking}
      onSend={() => void send()}
      onCancel={() => void navigate(like === undefined ? `/slots?day=${at.slice(0, 10)}` : `/slots/${like.id}`)}
      action={text.create}
    >
      <Section title={words.slot.times}>
        <TimesFields draft={times} onChange={(changed) => change({ times: changed })} />
        <Switch isSelected={isActive} onChange={(isSelected) => change({ isActive: isSelected })}>
          {text.active}
        </Switch>
      </Section>
      <Section title={words.slots.productsTitle}>
        <ProductPicker chosen={products} onChange={(chosen) => change({ products: chosen })} />
      </Section>
      {snippets.map((snippet, index) => {
        const replace = (...by: SnippetDraft[]) => change({ snippets: snippets.toSpliced(index, 1, ...by) });
        return (
          <Section
            // biome-ignore lint/suspicious/noArrayIndexKey: a snippet has no other identity while its name is typed.
            key={index}
            title={ofSnippets.one(index + 1)}
            actions={<Button onPress={() => replace()}>{ofSnippets.remove}</Button>}
          >
            <SnippetFields index={index} draft={snippet} onChange={replace} problems={write.failure?.fields ?? {}} />
          </Section>
        );
      })}
      {like !== undefined && left > 0 && snippets.length === 0 && (
        <p>
          {ofSnippets.left(like.id, left)}{' '}
          <Button
            onPress={() =>
              change({ snippets: like.vendorSnippets.map((snippet) => copySnippet(snippet, times, days)) })
            }
          >
            {ofSnippets.takeAlong(left)}
          </Button>
        </p>
      )}
      <div>
        <Button onPress={() => change({ snippets: [...snippets, emptySnippet] })}>{ofSnippets.addOne}</Button>
      </div>
    </EditForm>
  );
}

/** Says in sentences what will be made, at a time in Unix ms. */
function summaryOf({ times, isActive, products, snippets }: NewSlot, now: number): string {
  const [delivery, freeze] = [readTimeInput(times.deliveryTime), readTimeInput(times.freezeTime)];
  if (delivery === undefined || freeze === undefined) return text.noTime;
  const window = { deliveryTime: timestampFromDate(delivery), windowMinutes: Number(times.windowMinutes) || 0 };
  const isOpen = isActive && freeze.getTime() > now;
  return [
    text.summary(isActive, slotTime(window), Number(times.capacity) || 0),
    ...(isOpen ? [text.orderUntil(formatDate(freeze))] : []),
    text.contents(products.length, times.groups.length, snippets.length),
  ].join(' ');
}
