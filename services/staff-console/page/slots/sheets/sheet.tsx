import { toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { type SlotDetail, SlotService, type VendorSnippet } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { formatTime, Time } from '../../business/time.tsx';
import { groupNames, useGroups, useProductNames } from '../../lookup/names.ts';
import { readSequence } from '../../sequence/sequence.ts';
import { StoredSequence } from '../../sequence/stored-sequence.tsx';
import { Empty, Facts } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { isolate } from '../../ui/text.ts';
import { productsOf } from '../record/slot-draft.ts';

/** What is taken along to a slot: its products, its vendor snippets, and whose orders are delivered in which order. */
export function Sheet({ slotId }: { readonly slotId: number }): ReactNode {
  const query = useQuery(SlotService.method.getSlotById, { id: slotId });
  const sequence = useQuery(SlotService.method.getDeliverySequence, { id: String(slotId) });
  return (
    <article className="sheet" aria-label={`Run sheet of slot ${slotId}`}>
      <Read query={{ ...query, data: query.data?.slot }} what={`slot ${slotId}`}>
        {(slot) => (
          <>
            <Heading slot={slot} />
            <h3>Products</h3>
            <Products slot={slot} />
            {slot.vendorSnippets.length > 0 && <Snippets snippets={slot.vendorSnippets} />}
          </>
        )}
      </Read>
      <h3>Delivery sequence</h3>
      <Read query={sequence} what="the delivery sequence">
        {({ deliverySequence }) => {
          const json = deliverySequence === undefined ? '{}' : JSON.stringify(toJson(ValueSchema, deliverySequence));
          const stops = readSequence(json);
          return stops === undefined ? <pre>{json}</pre> : <StoredSequence sequence={stops} />;
        }}
      </Read>
    </article>
  );
}

function Heading({ slot }: { readonly slot: SlotDetail }): ReactNode {
  const groups = useGroups();
  return (
    <>
      <h2>
        <Time at={slot.deliveryTime} /> · Slot {slot.id}
      </h2>
      <Facts
        rows={[
          ['Orders close', <Time key="freeze" at={slot.freezeTime} />],
          ['Groups', groupNames(groups, slot.groupIds)],
          ['State', slot.isActive ? (slot.isCapacityFull ? 'Full' : '') : 'Deactivated'],
        ]}
      />
    </>
  );
}

function Products({ slot }: { readonly slot: SlotDetail }): ReactNode {
  const products = productsOf(slot);
  if (products.length === 0) return <Empty>No products.</Empty>;
  return (
    <ul className="products boxes">
      {products.map(({ id, name }) => (
        <li key={id}>{name}</li>
      ))}
    </ul>
  );
}

function Snippets({ snippets }: { readonly snippets: readonly VendorSnippet[] }): ReactNode {
  const nameOf = useProductNames([...new Set(snippets.flatMap(({ productIds }) => productIds))]);
  return (
    <>
      <h3>Vendor snippets</h3>
      <ul className="boxes">
        {snippets.map(({ snippetCode, productIds, validTill }) => (
          <li key={snippetCode}>
            <strong>{isolate(snippetCode)}</strong>: {productIds.map(nameOf).join(', ')}
            {validTill !== undefined && ` (until ${formatTime(validTill)})`}
          </li>
        ))}
      </ul>
    </>
  );
}
