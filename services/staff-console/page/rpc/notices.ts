import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components/Toast';

/** What became of an undo: the failure, when it was not possible. */
export interface Undone {
  readonly failure?: { readonly title: string } | undefined;
}

/** What the page tells staff after they have done something. */
export interface Notice {
  readonly text: string;
  /** Takes back what was done. */
  readonly undo?: (() => Promise<Undone>) | undefined;
  /** Of a slot write: the notice tells when the storefront shows it (design 4). */
  readonly storeRequestId?: string | undefined;
}

// Long enough to be read, and to press "Undo".
const shownMs = 8_000;

/** The notices on the page. */
export const notices = new ToastQueue<Notice>({ maxVisibleToasts: 3 });

/** Shows a notice for a while; for longer while staff point at it or have the focus on it. */
export function notify(notice: Notice): void {
  notices.add(notice, { timeout: shownMs });
}
