import { useState } from 'react';

/** A small picture beside a name, or an empty place if there is none. The name says what it shows. */
export function Picture({ url }: { readonly url: string }) {
  const [failed, setFailed] = useState('');
  const isShown = url !== '' && url !== failed;
  return (
    <span className="picture">
      {isShown && <img src={url} alt="" loading="lazy" decoding="async" onError={() => setFailed(url)} />}
    </span>
  );
}
