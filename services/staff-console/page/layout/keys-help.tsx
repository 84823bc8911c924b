import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';

/** Lists the keys of the console. */
export function KeysHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={words.frame.keys} isOpen onClose={onClose}>
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
        <Button autoFocus onPress={onClose}>
          {words.close}
        </Button>
      </div>
    </Dialog>
  );
}
