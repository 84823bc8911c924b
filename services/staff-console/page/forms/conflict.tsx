import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** The two versions of a field, in words. */
export interface ConflictRow {
  readonly name: string;
  readonly mine: string;
  readonly theirs: string;
}

interface ConflictProps {
  /** Such as "slot 25". */
  readonly record: string;
  /** Says who saved the other version, and when. */
  readonly by: ReactNode;
  readonly rows: readonly ConflictRow[];
  readonly isPending: boolean;
  /** Overwrites the saved version with the user's own. */
  onKeepMine(): void;
  /** Continues with the saved version. */
  onTakeTheirs(): void;
  /** Returns to the form, which still has the user's own version. */
  onClose(): void;
}

/** Shows two versions of a record side by side after somebody else saved first, and lets staff choose. */
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
