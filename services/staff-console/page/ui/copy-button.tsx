import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for those who can't see the page. */
  readonly name: string;
}

/** Copies a text, and says so. Browsers let only pages over HTTPS and of localhost copy: elsewhere there is no button. */
export function CopyButton({ text, name }: CopyButtonProps): ReactNode {
  const [isCopied, setIsCopied] = useState(false);
  if (!isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
  };
  const label = isCopied ? 'Copied' : 'Copy';
  return (
    <Button aria-label={`${label} ${name}`} onPress={() => void copy()}>
      {label}
    </Button>
  );
}
