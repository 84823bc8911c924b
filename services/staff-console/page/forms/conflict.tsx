import { type ReactNode, useState } from 'react';
import type { Contradiction } from '../rpc/guarded-edit.ts';
import { takeField } from '../rpc/merge.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';
import { Choice } from './choice.tsx';

interface ConflictProps<D> {
  readonly record: string;
  /** Says who saved the other version, and when. */
  readonly by: ReactNode;
  readonly contradiction: Contradiction<D>;
  /** Describes a field of a draft: its name and its value in words. */
  readonly describe: (field: keyof D & string, draft: D) => readonly [name: string, words: string];
}

/** Lets staff choose, field by field, between their own version and one that somebody else saved first. */
export function Conflict<D extends object>({ record, by, contradiction, describe }: ConflictProps<D>) {
  const { fields, mine, theirs, save, close } = contradiction;
  const [chosen, setChosen] = useState(mine);
  return (
    <Dialog title={words.forms.conflict(record)} isOpen onClose={close} role="alertdialog">
      <p>
        {by} {words.forms.conflictAdvice}
      </p>
      {fields.map((field) => {
        const [name, own] = describe(field, mine);
        const [, saved] = describe(field, theirs);
        return (
          <Choice
            key={field}
            label={name}
            value={chosen[field] === theirs[field] ? 'theirs' : 'mine'}
            options={{ mine: words.forms.yours(own), theirs: words.forms.theirs(saved) }}
            onChange={(version) => setChosen(takeField(chosen, field, version === 'mine' ? mine : theirs))}
          />
        );
      })}
      <div className="actions">
        <Button onPress={close}>{words.forms.keepEditing}</Button>
        <Button emphasis="primary" onPress={() => save(chosen)}>
          {words.save}
        </Button>
      </div>
    </Dialog>
  );
}
