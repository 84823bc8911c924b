import { type ReactNode, useEffect } from 'react';
import { isField } from '../search/search-button.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';

interface KeysHelpProps {
  readonly isOpen: boolean;
  onChange(isOpen: boolean): void;
}

/** Lists the keys of the console. A question mark outside of fields opens it. */
export function KeysHelp({ isOpen, onChange }: KeysHelpProps): ReactNode {
  useEffect(() => {
    const open = ({ key, target }: KeyboardEvent) => {
      if (key === '?' && !isField(target)) onChange(true);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, [onChange]);
  return (
    <Dialog title={words.frame.keys} isOpen={isOpen} onClose={() => onChange(false)}>
      <table className="list">
        <tbody>
          {words.keys.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="actions">
        <Button autoFocus onPress={() => onChange(false)}>
          {words.close}
        </Button>
      </div>
    </Dialog>
  );
}
