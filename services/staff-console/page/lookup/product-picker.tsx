import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { ProductSummary } from '../../../../shared/gen/common/v1/product_pb.ts';
import { type Option, PickMany } from '../forms/pick-many.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { isolate } from '../ui/text.ts';
import { useDebounced } from '../ui/use-debounced.ts';
import { useLookUp } from './use-look-up.ts';

interface ProductPickerProps {
  readonly label?: string;
  readonly hint?: string;
  readonly chosen: readonly Option[];
  onChange(chosen: readonly Option[]): void;
  readonly problem?: string | undefined;
}

/** A choice of products from the catalogue, with their pictures. */
export function ProductPicker({ label = 'Products', ...props }: ProductPickerProps): ReactNode {
  const [search, setSearch] = useState('');
  const lookUp = useLookUp();
  const { data, error } = useQuery(
    CatalogService.method.searchProducts,
    { search: useDebounced(search).trim() },
    { placeholderData: keepPreviousData },
  );
  return (
    <PickMany
      {...props}
      label={label}
      search={search}
      onSearch={setSearch}
      found={data?.products.map(toOption)}
      readByIds={async (productIds) =>
        (await lookUp(CatalogService.method.getProducts, { productIds: [...productIds] })).products.map(toOption)
      }
      problem={error === null ? props.problem : describeFailure(error).title}
    />
  );
}

const toOption = ({ id, name, images }: ProductSummary): Option => ({
  id,
  name: isolate(name),
  image: images[0] ?? '',
});
