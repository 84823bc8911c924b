import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { Option } from './pick-many.tsx';

/** What a picker of several options needs to choose one. */
interface OneChoice {
  readonly chosen: readonly Option[];
  onChange(chosen: readonly Option[]): void;
}

interface PickOneProps {
  /** Such as "Product". */
  readonly label: string;
  /** The chosen option, or none. */
  readonly chosen: readonly Option[];
  /** Called with the id of the chosen option; empty for none. */
  onChange(value: string): void;
  /** Renders the picker. */
  children(choice: OneChoice): ReactNode;
}

/** A filter as a button that names the chosen option and opens a picker for another one. */
export function PickOne({ label, chosen, onChange, children }: PickOneProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const choose = (value: string) => {
    setIsOpen(false);
    onChange(value);
  };
  return (
    <div className="field">
      <span className="label">{label}</span>
      <Button aria-label={`${label}: ${chosen[0]?.name ?? 'any'}`} onPress={() => setIsOpen(true)}>
        {chosen[0]?.name ?? 'Any'}
      </Button>
      <Dialog title={`Choose: ${label.toLowerCase()}`} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        {children({ chosen, onChange: (options) => choose(String(options.at(-1)?.id ?? '')) })}
        <div className="actions">
          <Button onPress={() => choose('')}>Any</Button>
          <Button onPress={() => setIsOpen(false)}>Close</Button>
        </div>
      </Dialog>
    </div>
  );
}
