import { useQuery } from '@connectrpc/connect-query';
import { useSearchParams } from 'react-router';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { useProductNames } from '../lookup/names.ts';
import { ProductPicker } from '../lookup/pickers.tsx';
import { Empty, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { OpenSlots } from './open-slots.tsx';

const text = words.storefront;

/** Shows when a product can be delivered. The URL contains the product, so that staff can share it. */
export function ProductSlots() {
  const [params, setParams] = useSearchParams();
  const product = readId(params.get('product'));
  const ids = product === undefined ? [] : [product];
  const nameOf = useProductNames(ids);
  return (
    <Section title={text.ofProduct}>
      <ProductPicker
        label={text.product}
        chosen={ids.map((id) => ({ id, name: nameOf(id) }))}
        onChange={(options) => {
          const chosen = options.at(-1);
          setParams(chosen === undefined ? {} : { product: String(chosen.id) }, { replace: true });
        }}
      />
      {ids.map((id) => (
        <SlotsOfProduct key={id} id={id} name={nameOf(id)} />
      ))}
    </Section>
  );
}

function SlotsOfProduct({ id, name }: { readonly id: number; readonly name: string }) {
  const query = useQuery(SlotStoreService.method.getProductSlots, { productIds: [id] });
  return (
    <Read query={query} what={text.slotsOf(name)}>
      {({ slots }) => (
        <OpenSlots isOfProduct slots={slots[id]?.slots ?? []} empty={<Empty>{text.inNone(name)}</Empty>} />
      )}
    </Read>
  );
}
