import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useState } from 'react';
import { words } from '../words.ts';
import { isSame, merge } from './merge.ts';
import { notify } from './notices.ts';
import type { Write } from './write.ts';

/** The fields that the user and somebody else have changed differently, and of which staff must choose one version. */
export interface Contradiction<D> {
  readonly fields: readonly (keyof D & string)[];
  readonly mine: D;
  readonly theirs: D;
  save(chosen: D): void;
  close(): void;
}

interface GuardedEditOptions<R, D, I extends DescMessage, O extends DescMessage> {
  readonly write: Write<I, O>;
  /** The record as it is when the edit begins; later values are ignored. */
  readonly record: R;
  readonly read: () => Promise<R | undefined>;
  readonly draftOf: (record: R) => D;
  /** Builds the request that replaces the record, with its etag. */
  readonly request: (draft: D, replaced: R) => MessageInitShape<I>;
  onSaved(answer: MessageShape<O>): void;
}

// Somebody may save again and again. Then staff try again themselves.
const maxMerges = 5;

/**
 * Edits a record under the guard of its etag (design 9). If somebody else has saved first, what does not contradict is
 * merged and saved, and staff choose between the rest. `start` is the draft of the record that the next save replaces.
 */
export function useGuardedEdit<R, D extends object, I extends DescMessage, O extends DescMessage>(
  options: GuardedEditOptions<R, D, I, O>,
) {
  const { write, record, read, draftOf, request, onSaved } = options;
  const [base, setBase] = useState(record);
  const [draft, setDraft] = useState(() => draftOf(record));
  const [contradiction, setContradiction] = useState<Pick<Contradiction<D>, 'fields' | 'mine' | 'theirs'>>();
  const saveDraft = async (first: D) => {
    let [mine, replaced] = [first, base];
    for (let left = maxMerges; left > 0; left -= 1) {
      const { answer, failure } = await write.send(request(mine, replaced));
      if (answer !== undefined) {
        if (replaced !== base) notify({ text: words.failures.merged });
        return onSaved(answer);
      }
      const now = failure?.reason === 'ETAG_MISMATCH' ? await read() : undefined;
      if (now === undefined) return;
      const theirs = draftOf(now);
      const merged = merge(draftOf(replaced), mine, theirs);
      setBase(now);
      setDraft(merged.draft);
      if (merged.contradictions.length > 0) {
        setContradiction({ fields: merged.contradictions, mine: merged.draft, theirs });
        return write.reset();
      }
      [mine, replaced] = [merged.draft, now];
    }
  };
  const close = () => setContradiction(undefined);
  const save = (changed = draft) => {
    close();
    setDraft(changed);
    void saveDraft(changed);
  };
  const start = draftOf(base);
  return {
    draft,
    setDraft,
    start,
    isDirty: !isSame(draft, start),
    save,
    contradiction: contradiction && { ...contradiction, save, close },
  };
}
