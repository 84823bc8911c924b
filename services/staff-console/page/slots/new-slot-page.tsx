import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useNavigate, useSearchParams } from 'react-router';
import { type SlotDetail, SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { Switch } from '../forms/choice.tsx';
import { FormEnd } from '../forms/form-end.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { ProductPicker } from '../lookup/product-picker.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { useWrite } from '../rpc/write.ts';
import { Button } from '../ui/button.tsx';
import { Loading, Page, Problem, Section } from '../ui/page.tsx';
import { draftOf, inputOf, newDraft, productsOf } from './record/slot-draft.ts';
import { emptySnippet, type SnippetDraft, snippetInput } from './snippets/snippet-draft.ts';
import { SnippetFields } from './snippets/snippet-fields.tsx';
import { TimesFields } from './times-fields.tsx';

/** Creates a slot, either empty or as a copy of another one some days later. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const like = /^\d{1,9}$/.exec(params.get('like') ?? '')?.[0] ?? null;
  const days = Math.trunc(Number(params.get('days'))) || 0;
  const input = like === null ? skipToken : { id: Number(like) };
  const { data, error, refetch } = useQuery(SlotService.method.getSlotById, input);
  return (
    <Page title={like === null ? 'New slot' : `New slot, as slot ${like}`}>
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {like !== null && data === undefined && error === null && <Loading what={`slot ${like}`} />}
      {(like === null || data?.slot !== undefined) && (
        <NewSlotForm key={params.toString()} like={data?.slot} days={days} />
      )}
    </Page>
  );
}

interface NewSlotFormProps {
  readonly like: SlotDetail | undefined;
  readonly days: number;
}

function NewSlotForm({ like, days }: NewSlotFormProps): ReactNode {
  const navigate = useNavigate();
  const [first] = useState(() => (like === undefined ? newDraft(new Date()) : draftOf(like, days)));
  const [draft, setDraft] = useState(first);
  const [isActive, setIsActive] = useState(true);
  const [copied] = useState<readonly Option[]>(() => (like === undefined ? [] : productsOf(like)));
  const [products, setProducts] = useState(copied);
  const [snippets, setSnippets] = useState<readonly SnippetDraft[]>([]);
  const [isCreated, setIsCreated] = useState(false);
  const write = useWrite(SlotService.method.createSlot, ({ message }) => ({ text: message }));
  const send = async () => {
    const { answer } = await write.send({
      ...inputOf(draft),
      isActive,
      productIds: products.map(({ id }) => id),
      vendorSnippets: snippets.map(snippetInput),
    });
    if (answer?.slot === undefined) return;
    setIsCreated(true);
    void navigate(`/slots/${answer.slot.id}`);
  };
  const isDirty = !isCreated && (draft !== first || !isActive || products !== copied || snippets.length > 0);
  const problems = write.failure?.fields ?? {};
  return (
    <Form
      validationErrors={problems}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Section title="Times and groups">
        <TimesFields draft={draft} onChange={setDraft} />
        <Switch isSelected={isActive} onChange={setIsActive}>
          Active: the storefront offers it
        </Switch>
      </Section>
      <Section title="Products">
        <ProductPicker chosen={products} onChange={setProducts} />
      </Section>
      {snippets.map((snippet, index) => {
        const replace = (...by: SnippetDraft[]) => setSnippets(snippets.toSpliced(index, 1, ...by));
        return (
          <Section
            // biome-ignore lint/suspicious/noArrayIndexKey: a snippet has no other identity while its name is typed.
            key={index}
            title={`Vendor snippet ${index + 1}`}
            actions={<Button onPress={() => replace()}>Remove this snippet</Button>}
          >
            <SnippetFields index={index} draft={snippet} onChange={replace} problems={problems} />
          </Section>
        );
      })}
      <Button onPress={() => setSnippets([...snippets, emptySnippet])}>Add a vendor snippet</Button>
      <FormEnd write={write} isDirty={isDirty} onCancel={() => void navigate(-1)} action="Create slot" />
    </Form>
  );
}
