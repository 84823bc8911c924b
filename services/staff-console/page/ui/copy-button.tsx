import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** Names the copied text, for screen readers. */
  readonly name: string;
}

/** Copies a text, and confirms it. Shown only on HTTPS or localhost, because browsers let no other page copy. */
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
