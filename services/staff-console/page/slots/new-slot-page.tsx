import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { type SlotDetail, SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { useNow } from '../business/time.tsx';
import { dateInput, readDay, shiftDay } from '../business/time-input.ts';
import { EditForm } from '../forms/edit-form.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { Switch } from '../forms/switch.tsx';
import { useProductNames } from '../lookup/names.ts';
import { ProductPicker } from '../lookup/pickers.tsx';
import { isSame } from '../rpc/merge.ts';
import { useWrite } from '../rpc/write.ts';
import { clock } from '../session/clock.ts';
import { Button } from '../ui/button.tsx';
import { Page, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { readId } from '../ui/text.ts';
import { concernsOf, draftOf, emptyConcerns, inputOf, newDraft, productsOf } from './record/slot-draft.ts';
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

/** Creates a slot, either empty on the day or at the time in the URL, or as a copy of another one some days later. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const like = readId(params.get('like'));
  const days = /^\d{1,4}$/.test(params.get('days') ?? '') ? Number(params.get('days')) : 0;
  const [day = '', time = '10:00'] = (params.get('at') ?? params.get('day') ?? '').split('T');
  const at = `${readDay(day) ?? shiftDay(dateInput(new Date(clock.now())), 1)}T${time}`;
  const input = like === undefined ? skipToken : { id: like };
  const query = useQuery(SlotService.method.getSlotById, input);
  const form = (slot: SlotDetail | undefined) => (
    <NewSlotForm key={params.toString()} at={at} like={slot} days={days} />
  );
  return (
    <Page title={like === undefined ? 'New slot' : `New slot, as slot ${like}`}>
      {like === undefined ? (
        form(undefined)
      ) : (
        <Read query={query} what={`slot ${like}`}>
          {({ slot }) => slot !== undefined && form(slot)}
        </Read>
      )}
    </Page>
  );
}

interface NewSlotFormProps {
  /** When a new slot is delivered, such as 2026-11-23T10:00. */
  readonly at: string;
  readonly like: SlotDetail | undefined;
  readonly days: number;
}

function NewSlotForm({ at, like, days }: NewSlotFormProps): ReactNode {
  const navigate = useNavigate();
  const now = useNow(20_000);
  const [start] = useState(() => ({
    times: like === undefined ? newDraft(at) : draftOf(like, days),
    isActive: true,
    products: like === undefined ? [] : productsOf(like),
    snippets: Array.of<SnippetDraft>(),
  }));
  const [draft, setDraft] = useState(start);
  const [isCreated, setIsCreated] = useState(false);
  const { times, isActive, products, snippets } = draft;
  const change = (part: Partial<typeof draft>) => setDraft({ ...draft, ...part });
  const { taken, isChecking } = useTaken(isActive ? plansOf(times) : []);
  const write = useWrite(SlotService.method.createSlot, ({ message }) => ({ text: message }));
  const send = async () => {
    const productIds = products.map(({ id }: Option) => id);
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
  const nameOf = useProductNames([...new Set(like?.vendorSnippets.flatMap(({ productIds }) => productIds))]);
  return (
    <EditForm
      write={write}
      isDirty={!isCreated && !isSame(draft, start)}
      concerns={[
        ...concernsOf(times, now),
        ...taken,
        ...(isActive ? emptyConcerns(products, times.groups) : []),
        ...snippets.flatMap((snippet) => snippetConcerns(snippet, now)),
      ]}
      isChecking={isChecking}
      onSend={() => void send()}
      onCancel={() => void navigate(like === undefined ? `/slots?day=${at.slice(0, 10)}` : `/slots/${like.id}`)}
      action="Create slot"
    >
      <Section title="Times and groups">
        <TimesFields draft={times} onChange={(changed) => change({ times: changed })} />
        <Switch isSelected={isActive} onChange={(isSelected) => change({ isActive: isSelected })}>
          Active: the storefront offers it
        </Switch>
      </Section>
      <Section title="Products">
        <ProductPicker chosen={products} onChange={(chosen: readonly Option[]) => change({ products: [...chosen] })} />
      </Section>
      {snippets.map((snippet, index) => {
        const replace = (...by: SnippetDraft[]) => change({ snippets: snippets.toSpliced(index, 1, ...by) });
        return (
          <Section
            // biome-ignore lint/suspicious/noArrayIndexKey: a snippet has no other identity while its name is typed.
            key={index}
            title={`Vendor snippet ${index + 1}`}
            actions={<Button onPress={() => replace()}>Remove this snippet</Button>}
          >
            <SnippetFields index={index} draft={snippet} onChange={replace} problems={write.failure?.fields ?? {}} />
          </Section>
        );
      })}
      {like !== undefined && left > 0 && snippets.length === 0 && (
        <p>
          The names of snippets are unique, so the {left === 1 ? 'snippet' : `${left} snippets`} of slot {like.id} can
          only be taken along under new names.{' '}
          <Button
            onPress={() =>
              change({ snippets: like.vendorSnippets.map((snippet) => copySnippet(snippet, nameOf, times, days)) })
            }
          >
            Take {left === 1 ? 'it' : 'them'} along
          </Button>
        </p>
      )}
      <Button onPress={() => change({ snippets: [...snippets, emptySnippet] })}>Add a vendor snippet</Button>
    </EditForm>
  );
}
