import { type ReactNode, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { useProductNames } from '../lookup/names.ts';
import { Button } from '../ui/button.tsx';

const namesAtOnce = 50;

/** The name of a record, with the path of its page. */
interface Named {
  readonly name: string;
  readonly href?: string;
}

/** Lists names, a few at a time, because there may be very many. */
export function Names({ names }: { readonly names: readonly Named[] }): ReactNode {
  const [count, setCount] = useState(namesAtOnce);
  return <FirstNames names={names.slice(0, count)} of={names.length} onMore={() => setCount(count + namesAtOnce)} />;
}

/** Lists the names of products. Each name is read only when it is shown. */
export function ProductNames({ ids }: { readonly ids: readonly number[] }): ReactNode {
  const [count, setCount] = useState(namesAtOnce);
  const shown = ids.slice(0, count);
  const nameOf = useProductNames(shown);
  return (
    <FirstNames
      names={shown.map((id) => ({ name: nameOf(id) }))}
      of={ids.length}
      onMore={() => setCount(count + namesAtOnce)}
    />
  );
}

interface FirstNamesProps {
  readonly names: readonly Named[];
  readonly of: number;
  onMore(): void;
}

function FirstNames({ names, of, onMore }: FirstNamesProps): ReactNode {
  return (
    <>
      <ul className="coupon-names">
        {names.map(({ name, href }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and their order never changes
          <li key={index}>{href === undefined ? name : <Link href={href}>{name}</Link>}</li>
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
