import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { type Option, PickMany } from '../forms/pick-many.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { useDebounced } from '../ui/use-debounced.ts';

interface ProductPickerProps {
  readonly label?: string;
  readonly hint?: string;
  readonly chosen: readonly Option[];
  onChange(chosen: readonly Option[]): void;
  readonly problem?: string | undefined;
}

/** A choice of products from the catalogue. */
export function ProductPicker({ label = 'Products', ...props }: ProductPickerProps): ReactNode {
  const [search, setSearch] = useState('');
  const { data, error } = useQuery(
    CatalogService.method.searchProducts,
    { search: useDebounced(search) },
    { placeholderData: keepPreviousData },
  );
  const problem = error === null ? props.problem : describeFailure(error).title;
  return (
    <PickMany {...props} label={label} search={search} onSearch={setSearch} found={data?.products} problem={problem} />
  );
}
