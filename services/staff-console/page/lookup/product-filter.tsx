import type { ReactNode } from 'react';
import { PickOne } from '../forms/pick-one.tsx';
import { readId } from '../ui/text.ts';
import { useProductNames } from './catalog.ts';
import { ProductPicker } from './product-picker.tsx';

interface FilterProps {
  /** The id in the URL; empty for none. */
  readonly value: string;
  onChange(value: string): void;
}

/** A filter of a list by a product, which staff choose by name. */
export function ProductFilter({ value, onChange }: FilterProps): ReactNode {
  const id = readId(value);
  const ids = id === undefined ? [] : [id];
  const nameOf = useProductNames(ids);
  return (
    <PickOne label="Product" chosen={ids.map((id) => ({ id, name: nameOf(id) }))} onChange={onChange}>
      {(choice) => <ProductPicker label="Product" {...choice} />}
    </PickOne>
  );
}
