import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { SlotStoreService } from '../../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { useProductNames } from '../lookup/catalog.ts';
import { ProductPicker } from '../lookup/product-picker.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { Empty, Loading, Problem, Section } from '../ui/page.tsx';
import { OpenSlots } from './open-slots.tsx';

/** Shows when a product can be delivered. The URL contains the product, so that staff can share it. */
export function ProductSlots(): ReactNode {
  const [params, setParams] = useSearchParams();
  const product = Number(params.get('product') ?? 0);
  const ids = Number.isSafeInteger(product) && product > 0 && product < 2 ** 31 ? [product] : [];
  const nameOf = useProductNames(ids);
  return (
    <Section title="When can this product be delivered?">
      <ProductPicker
        label="Product"
        hint="Choose one. Another choice takes its place."
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

function SlotsOfProduct({ id, name }: { readonly id: number; readonly name: string }): ReactNode {
  const { data, error, refetch } = useQuery(SlotStoreService.method.getProductSlots, { productIds: [id] });
  if (data === undefined) {
    if (error !== null) return <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />;
    return <Loading what={`the slots of ${name}`} />;
  }
  return <OpenSlots slots={data.slots[id]?.slots ?? []} empty={<Empty>{name} is in no open slot.</Empty>} />;
}
