import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { words } from '../words.ts';
import { Button } from './button.tsx';

interface CopyButtonProps {
  readonly what: string;
  readonly text: string;
  /** Says which one it is, for screen readers. */
  readonly name: string;
  /** Whether it is an icon alone, as in a table. */
  readonly isIcon?: boolean;
}

/** Copies a text, and confirms it. Shown only on HTTPS or localhost, because browsers let no other page copy. */
export function CopyButton({ what, text, name, isIcon = false }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  if (!isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
  };
  const label = isCopied ? words.copied : words.copy(what);
  return (
    <Button emphasis={isIcon ? 'quiet' : 'plain'} aria-label={`${label} ${name}`} onPress={() => void copy()}>
      {!isIcon ? label : isCopied ? <Check /> : <Copy />}
    </Button>
  );
}
