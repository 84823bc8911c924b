import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { formatDate, useNow } from '../business/time.tsx';
import { dateInput, moveTime, readDay, readTimeInput, shiftDay } from '../business/time-input.ts';
import { EditForm } from '../forms/edit-form.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { Switch } from '../forms/switch.tsx';
import { ProductPicker } from '../lookup/pickers.tsx';
import { isSame } from '../rpc/merge.ts';
import { useWrite } from '../rpc/write.ts';
import { clock } from '../session/clock.ts';
import { Button } from '../ui/button.tsx';
import { Page, Read, Section } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import {
  concernsOf,
  draftOf,
  emptyConcerns,
  inputOf,
  plansOf,
  productsOf,
  type SlotDraft,
  useTaken,
} from './record/draft.ts';
import { slotTime } from './record/slot-state.tsx';
import {
  copySnippet,
  emptySnippet,
  type SnippetDraft,
  SnippetFields,
  snippetConcerns,
  snippetInput,
} from './snippets/snippets.tsx';
import { TimesFields } from './times-fields.tsx';

const { form: text, snippets: ofSnippets } = words.slot;

/** Creates a slot, either empty on the day or at the time in the URL, or as a copy of another one some days later. */
export function Component() {
  const [params] = useSearchParams();
  const like = readId(params.get('like'));
  const query = useQuery(SlotService.method.getSlotById, like === undefined ? skipToken : { id: like });
  const source = like === undefined ? null : query.data?.slot;
  return (
    <Page title={source ? text.copyTitle(slotTime(source)) : words.slots.newSlot}>
      <Read query={{ ...query, data: source }} what={words.slot.what}>
        {(slot) => <NewSlotForm key={params.toString()} like={slot} />}
      </Read>
    </Page>
  );
}

/** A new slot in the form. */
interface NewSlot extends SlotDraft {
  readonly isActive: boolean;
  readonly products: readonly Option[];
  readonly snippets: readonly SnippetDraft[];
}

const empty = { groups: [], capacity: '', windowMinutes: '', isActive: true, products: [], snippets: [] };

function NewSlotForm({ like }: { readonly like: SlotDetail | null }) {
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const days = /^\d{1,4}$/.test(params.get('days') ?? '') ? Number(params.get('days')) : 0;
  const [day = '', time = '10:00'] = (params.get('at') ?? params.get('day') ?? '').split('T');
  const at = `${readDay(day) ?? shiftDay(dateInput(new Date(clock.now())), 1)}T${time}`;
  const now = useNow(20_000);
  const [start] = useState<NewSlot>(() => ({
    ...empty,
    deliveryTime: at,
    // Four hours before.
    freezeTime: moveTime(at, '2000-01-01T04:00', '2000-01-01T00:00'),
    ...(like && { ...draftOf(like, days), products: productsOf(like) }),
  }));
  const [draft, setDraft] = useState(start);
  const [isCreated, setIsCreated] = useState(false);
  const { isActive, products, snippets } = draft;
  const change = (part: Partial<NewSlot>) => setDraft({ ...draft, ...part });
  const { taken, isChecking } = useTaken(isActive ? plansOf(draft) : []);
  const write = useWrite(SlotService.method.createSlot, ({ message }) => ({ text: message }));
  const send = async () => {
    const productIds = products.map(({ id }) => id);
    const vendorSnippets = snippets.map(snippetInput);
    const { answer } = await write.send({ ...inputOf(draft), isActive, productIds, vendorSnippets });
    if (answer?.slot === undefined) return;
    setIsCreated(true);
    // In the place of the form, which "Back" must not open again as it was sent.
    void navigate(`/slots/${answer.slot.id}`, { replace: true });
  };
  const left = like?.vendorSnippets ?? [];
  return (
    <EditForm
      write={write}
      isDirty={!isCreated && !isSame(draft, start)}
      summary={summaryOf(draft, now)}
      concerns={[
        ...concernsOf(draft, now),
        ...taken,
        ...(isActive ? emptyConcerns(products, draft.groups) : []),
        ...snippets.flatMap((snippet) => snippetConcerns(snippet, draft, now)),
      ]}
      isChecking={isChecking}
      onSend={() => void send()}
      onCancel={() => void navigate(like ? `/slots/${like.id}` : `/slots?day=${at.slice(0, 10)}`)}
      action={text.create}
    >
      <Section title={words.slot.times}>
        <TimesFields draft={draft} onChange={change} />
        <Switch isSelected={isActive} onChange={(isSelected) => change({ isActive: isSelected })}>
          {text.active}
        </Switch>
      </Section>
      <Section title={words.fields.productIds}>
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
            <SnippetFields index={index} draft={snippet} onChange={replace} problems={write.failure?.fields} />
          </Section>
        );
      })}
      {like && left.length > 0 && snippets.length === 0 && (
        <p>
          {ofSnippets.left(like.id, left.length)}{' '}
          <Button onPress={() => change({ snippets: left.map((each) => copySnippet(each, draft.deliveryTime, days)) })}>
            {ofSnippets.takeAlong(left.length)}
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
function summaryOf({ isActive, products, groups, snippets, ...draft }: NewSlot, now: number): string {
  const [delivery, freeze] = [readTimeInput(draft.deliveryTime), readTimeInput(draft.freezeTime)];
  if (delivery === undefined || freeze === undefined) return text.noTime;
  const window = { deliveryTime: timestampFromDate(delivery), windowMinutes: Number(draft.windowMinutes) || 0 };
  return [
    text.summary(isActive, slotTime(window), Number(draft.capacity) || 0),
    ...(isActive && freeze.getTime() > now ? [text.orderUntil(formatDate(freeze))] : []),
    text.contents(products.length, groups.length, snippets.length),
  ].join(' ');
}
