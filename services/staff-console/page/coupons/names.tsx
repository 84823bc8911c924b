import { type ReactNode, useState } from 'react';
import { useProductNames } from '../lookup/catalog.ts';
import { Button } from '../ui/button.tsx';

const namesAtOnce = 50;

/** Lists names, a few at a time, because there may be very many. */
export function Names({ names }: { readonly names: readonly string[] }): ReactNode {
  const [count, setCount] = useState(namesAtOnce);
  return <FirstNames names={names.slice(0, count)} of={names.length} onMore={() => setCount(count + namesAtOnce)} />;
}

/** Lists the names of products. Each name is read only when it is shown. */
export function ProductNames({ ids }: { readonly ids: readonly number[] }): ReactNode {
  const [count, setCount] = useState(namesAtOnce);
  const shown = ids.slice(0, count);
  const nameOf = useProductNames(shown);
  return <FirstNames names={shown.map(nameOf)} of={ids.length} onMore={() => setCount(count + namesAtOnce)} />;
}

interface FirstNamesProps {
  readonly names: readonly string[];
  readonly of: number;
  onMore(): void;
}

function FirstNames({ names, of, onMore }: FirstNamesProps): ReactNode {
  return (
    <>
      <ul className="coupon-names">
        {names.map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and their order never changes
          <li key={index}>{name}</li>
        ))}
      </ul>
      {of > names.length && (
        <Button onPress={onMore}>
          Show more: {names.length} of {of} are shown
        </Button>
      )}
    </>
  );
}
