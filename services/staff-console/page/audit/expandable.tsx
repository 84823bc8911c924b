import { type ReactNode, useState } from 'react';

interface ExpandableProps {
  readonly summary: string;
  /** Renders the content. Called only while it is open. */
  children(): ReactNode;
}

/** Collapses long content under a summary line. The content is not rendered until it is opened. */
export function Expandable({ summary, children }: ExpandableProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}
