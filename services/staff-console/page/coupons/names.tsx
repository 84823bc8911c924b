import { useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { useProductNames } from '../lookup/names.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';
import type { Chosen } from './record/draft.ts';

const namesAtOnce = 10;

interface NamesProps {
  /** The names of records, each with the path of its page if there is one. */
  readonly names: readonly { readonly name: string; readonly href?: string }[];
  /** Called with how many names will be shown. */
  readonly onMore?: (count: number) => void;
}

/** Lists names, a few at a time, because there may be very many. */
export function Names({ names, onMore }: NamesProps) {
  const [count, setCount] = useState(namesAtOnce);
  const shown = names.slice(0, count);
  const showMore = () => {
    setCount(count + namesAtOnce);
    onMore?.(count + namesAtOnce);
  };
  return (
    <>
      <ul className="plain">
        {shown.map(({ name, href }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and their order never changes
          <li key={index}>{href === undefined ? name : <Link href={href}>{name}</Link>}</li>
        ))}
      </ul>
      {names.length > count && <Button onPress={showMore}>{words.coupon.moreNames(count, names.length)}</Button>}
    </>
  );
}

/** Lists the names of products. A name that is not known yet, and so empty, is read when it is shown. */
export function ProductNames({ products }: { readonly products: readonly Chosen[] }) {
  const [count, setCount] = useState(namesAtOnce);
  const shown = products.slice(0, count);
  const nameOf = useProductNames(shown.filter(({ name }) => name === '').map(({ id }) => id));
  return <Names names={products.map(({ id, name }) => ({ name: name || nameOf(id) }))} onMore={setCount} />;
}
