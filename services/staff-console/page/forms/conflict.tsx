import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** A field of which there are two versions, in words. */
export interface ConflictRow {
  readonly name: string;
  readonly mine: string;
  readonly theirs: string;
}

interface ConflictProps {
  /** Such as "slot 25". */
  readonly record: string;
  /** Who was quicker, and when. */
  readonly by: ReactNode;
  readonly rows: readonly ConflictRow[];
  readonly isPending: boolean;
  /** Saves one's own version over theirs. */
  onKeepMine(): void;
  /** Goes on with their version. */
  onTakeTheirs(): void;
  /** Goes back to the form, which still has one's own version. */
  onClose(): void;
}

/** Shows two versions of a record side by side after somebody else was quicker, and lets staff choose. */
export function Conflict({ record, by, rows, isPending, onKeepMine, onTakeTheirs, onClose }: ConflictProps): ReactNode {
  return (
    <Dialog title={`Somebody else has changed ${record}`} isOpen onClose={onClose} role="alertdialog">
      <p>Nothing is lost: your version has not been saved yet. {by}</p>
      <table className="versions">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Your version</th>
            <th scope="col">Saved meanwhile</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, mine, theirs }) => (
            <tr key={name} className={mine === theirs ? undefined : 'differs'}>
              <th scope="row">{name}</th>
              <td>{mine || '–'}</td>
              <td>{theirs || '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="actions">
        <Button onPress={onClose}>Back to editing</Button>
        <Button onPress={onTakeTheirs}>Use the saved version</Button>
        <Button emphasis="primary" isPending={isPending} onPress={onKeepMine}>
          Save my version
        </Button>
      </div>
    </Dialog>
  );
}
