import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for those who can't see the page. */
  readonly label: string;
}

/** Copies a text, and says so. Browsers let only pages over HTTPS and of localhost copy: elsewhere there is no button. */
export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  const [isCopied, setIsCopied] = useState(false);
  if (!isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
  };
  return (
    <Button aria-label={label} onPress={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  );
}
