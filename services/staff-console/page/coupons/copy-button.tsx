import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { notify } from '../ui/notices.ts';

/** Copies a code. Browsers let pages over HTTPS do so, and those of this machine. */
export function CopyButton({ text }: { readonly text: string }): ReactNode {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      notify({ text: `${text} copied` });
    } catch {
      notify({ text: `This browser does not let the page copy. Select ${text}, and copy it yourself.` });
    }
  };
  return (
    <Button onPress={() => void copy()} aria-label={`Copy code ${text}`}>
      Copy code
    </Button>
  );
}
