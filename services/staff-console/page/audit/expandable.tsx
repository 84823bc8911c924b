import { type ReactNode, useState } from 'react';

/** Collapses long content under a summary line. The content is not rendered until it is opened. */
export function Expandable({ summary, children }: { readonly summary: string; children(): ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}
