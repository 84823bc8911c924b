import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useState } from 'react';
import type { Sent, Write } from './write.ts';

/** A record that carries an etag (design 9). */
export interface Guarded {
  readonly etag: string;
}

/** A mutation of a record that succeeds only while nobody else has changed the record. */
export interface GuardedEdit<R extends Guarded, I extends DescMessage, O extends DescMessage> {
  /** Sends what `request` makes of the etag that the edit began with. */
  save(request: (etag: string) => MessageInitShape<I>): Promise<Sent<MessageShape<O>>>;
  /** The record as somebody else has left it, once they were quicker: to be compared with one's own version. */
  readonly theirs: R | undefined;
  /** Goes on from their version: the next `save` replaces it. */
  rebase(): void;
}

/**
 * Guards an edit with the etag that the record had when the edit began, so that nobody's change is overwritten unseen.
 *
 * @param began the record as it was when the edit began.
 * @param read reads the record as it is now.
 */
export function useGuardedEdit<R extends Guarded, I extends DescMessage, O extends DescMessage>(
  write: Write<I, O>,
  began: Guarded,
  read: () => Promise<R | undefined>,
): GuardedEdit<R, I, O> {
  const [etag, setEtag] = useState(began.etag);
  const [theirs, setTheirs] = useState<R>();
  return {
    theirs,
    async save(request) {
      const sent = await write.send(request(theirs?.etag ?? etag));
      if (sent.failure?.reason === 'ETAG_MISMATCH') setTheirs(await read());
      return sent;
    },
    rebase() {
      if (theirs !== undefined) setEtag(theirs.etag);
      setTheirs(undefined);
      write.reset();
    },
  };
}
