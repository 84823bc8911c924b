import { type ReactNode, useState } from 'react';

interface ExpandableProps {
  readonly summary: string;
  /** Makes what is inside, once it is opened. */
  children(): ReactNode;
}

/** Something long behind a line of its own, which costs nothing until it is opened. */
export function Expandable({ summary, children }: ExpandableProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="expandable" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}
