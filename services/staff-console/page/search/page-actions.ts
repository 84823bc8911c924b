import type { Match } from './matches.ts';

/** Returns the actions of the page on show: its buttons and links that stand in rows of actions. */
export function actionsOfPage(): readonly Match[] {
  const found = document.querySelectorAll<HTMLElement>('main .actions :is(a, button):not(:disabled)');
  return [...found].map((element, index) => ({
    key: `action ${index}`,
    name: element.ariaLabel ?? element.innerText,
    detail: 'on this page',
    // After the dialog has closed and given back the focus.
    run: () => setTimeout(() => element.click()),
  }));
}
