import { moreActions } from '../ui/more-menu.tsx';
import { words } from '../words.ts';
import type { Match } from './matches.ts';

/** Returns the actions of the page on show: its buttons and links in rows of actions, and those behind dots. */
export function actionsOfPage(): readonly Match[] {
  const found = document.querySelectorAll<HTMLElement>('main .actions :is(a, button):not(:disabled)');
  return [
    ...[...found].map((element) => ({
      name: element.ariaLabel ?? element.innerText,
      // After the dialog has closed and given back the focus.
      run: () => setTimeout(() => element.click()),
    })),
    ...moreActions,
  ].map((action, index) => ({ ...action, key: `action ${index}`, detail: words.search.onThisPage }));
}
