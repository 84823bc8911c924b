import { toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { type SlotDetail, SlotService, type VendorSnippet } from '#gen/slot/v1/slot_service_pb';
import { formatTime } from '../../business/time.tsx';
import { groupNames, useGroups, useProductNames } from '../../lookup/names.ts';
import { readSequence } from '../../sequence/sequence.ts';
import { Read } from '../../ui/read.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { productsOf } from '../record/slot-draft.ts';
import { slotTime } from '../record/slot-time.ts';
import { Visits } from './visits.tsx';

const text = words.slot.sheets;

/** What is taken along to a slot: whom to deliver to in which order, and what, as lists to tick and to sign. */
export function Sheet({ slotId }: { readonly slotId: number }) {
  const query = useQuery(SlotService.method.getSlotById, { id: slotId });
  const sequence = useQuery(SlotService.method.getDeliverySequence, { id: String(slotId) });
  return (
    <article className="card sheet" aria-label={text.of(slotId)}>
      <Read query={{ ...query, data: query.data?.slot }} what={words.slot.what}>
        {(slot) => <Heading slot={slot} />}
      </Read>
      <Read query={sequence} what={words.slot.sequence.what}>
        {({ deliverySequence }) => {
          const json = deliverySequence === undefined ? '{}' : JSON.stringify(toJson(ValueSchema, deliverySequence));
          const stops = readSequence(json);
          return (
            <>
              {stops === undefined && <pre className="scroll-x">{json}</pre>}
              <Visits slotId={slotId} sequence={stops ?? {}} />
            </>
          );
        }}
      </Read>
      {query.data?.slot !== undefined && <Products slot={query.data.slot} />}
    </article>
  );
}

function Heading({ slot }: { readonly slot: SlotDetail }) {
  const groups = useGroups();
  const state = slot.isActive ? (slot.isCapacityFull ? words.slots.states.full : '') : words.slots.states.deactivated;
  return (
    <>
      <h2>
        {slotTime(slot)} · {words.slots.slot(slot.id)}
      </h2>
      <p className="detail">
        {[text.closes(formatTime(slot.freezeTime)), groupNames(groups, slot.groupIds), state]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </>
  );
}

function Products({ slot }: { readonly slot: SlotDetail }) {
  const products = productsOf(slot);
  return (
    <>
      <h3>{words.slot.products(products.length)}</h3>
      <ul className="columns boxes">
        {products.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
      {slot.vendorSnippets.length > 0 && <Snippets snippets={slot.vendorSnippets} />}
    </>
  );
}

function Snippets({ snippets }: { readonly snippets: readonly VendorSnippet[] }) {
  const nameOf = useProductNames([...new Set(snippets.flatMap(({ productIds }) => productIds))]);
  return (
    <>
      <h3>{words.slot.snippets.title(snippets.length)}</h3>
      <ul className="plain boxes">
        {snippets.map(({ snippetCode, productIds, validTill }) => (
          <li key={snippetCode}>
            <strong>{isolate(snippetCode)}</strong>: {productIds.map(nameOf).join(', ')}
            {validTill !== undefined && ` (${words.orders.until(formatTime(validTill))})`}
          </li>
        ))}
      </ul>
    </>
  );
}
