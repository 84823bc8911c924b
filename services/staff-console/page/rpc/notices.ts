import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components/Toast';

/** The result of an undo. */
export interface Undone {
  readonly failure?: { readonly title: string } | undefined;
}

/** A message to staff about something that they have done. */
export interface Notice {
  readonly text: string;
  readonly undo?: (() => Promise<Undone>) | undefined;
  /** Does again what failed. A notice has an undo or this. */
  readonly retry?: (() => void) | undefined;
  /** The record that it is about, such as "Slot 25". It takes the place of an earlier notice about the same one. */
  readonly about?: string | undefined;
  /** It then stays until it is closed. */
  readonly isProblem?: boolean;
  /** Set after a slot write: the notice then says when the storefront shows it (design 4). */
  readonly storeRequestId?: string | undefined;
}

// Long enough to read the notice and press "Undo".
const shownMs = 8_000;
// There is time to look at what was done, and to undo it.
const undoMs = 20_000;

export const notices = new ToastQueue<Notice>({ maxVisibleToasts: 3 });

/** Shows a notice for a while, and longer while it has the pointer or the focus. */
export function notify(notice: Notice): void {
  const earlier = notices.visibleToasts.filter(({ content }) => content.about !== undefined);
  for (const { key, content } of earlier) if (content.about === notice.about) notices.close(key);
  notices.add(notice, notice.isProblem ? {} : { timeout: notice.undo ? undoMs : shownMs });
}
