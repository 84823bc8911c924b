import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useState } from 'react';
import type { Sent, Write } from './write.ts';

/** A mutation of a record that succeeds only while nobody else has changed the record (design 9). */
export interface GuardedEdit<R, I extends DescMessage, O extends DescMessage> {
  /** The record on which the edit is based. */
  readonly base: R;
  /** Builds the request from the record to replace, with its etag, and sends it. */
  save(request: (replaced: R) => MessageInitShape<I>): Promise<Sent<MessageShape<O>>>;
  /** The record as somebody else saved it first, to compare with the user's own version; undefined if nobody did. */
  readonly theirs: R | undefined;
  /** Bases the edit on `theirs`, which the next `save` then replaces. */
  rebase(): void;
}

/**
 * Guards an edit with the etag that the record had when the edit began, so that it overwrites no unseen change.
 *
 * @param record the record as it is when the edit begins; later values are ignored.
 * @param read reads the record as it is now.
 */
export function useGuardedEdit<R, I extends DescMessage, O extends DescMessage>(
  write: Write<I, O>,
  record: R,
  read: () => Promise<R | undefined>,
): GuardedEdit<R, I, O> {
  const [base, setBase] = useState(record);
  const [theirs, setTheirs] = useState<R>();
  return {
    base,
    theirs,
    async save(request) {
      const sent = await write.send(request(theirs ?? base));
      if (sent.failure?.reason === 'ETAG_MISMATCH') setTheirs(await read());
      return sent;
    },
    rebase() {
      if (theirs !== undefined) setBase(theirs);
      setTheirs(undefined);
      write.reset();
    },
  };
}
