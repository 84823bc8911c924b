import { useSyncExternalStore } from 'react';

const changes = new EventTarget();

/** Returns what this browser keeps of a person's choice, or '' if nothing was chosen, and a function that keeps another. */
export function usePreference(name: string): readonly [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => localStorage.getItem(name) ?? '');
  const set = (chosen: string) => {
    localStorage.setItem(name, chosen);
    changes.dispatchEvent(new Event('change'));
  };
  return [value, set];
}

function subscribe(listener: () => void): () => void {
  changes.addEventListener('change', listener);
  return () => changes.removeEventListener('change', listener);
}

/** The looks of the page, each with the one that its button brings next. '' is that of the computer. */
export const themes = {
  '': { words: 'As this computer', next: 'light' },
  light: { words: 'Light', next: 'dark' },
  dark: { words: 'Dark', next: '' },
} as const;

/** Gives the page the look that was chosen in this browser or, without a choice, that of the computer. */
export function followTheme(): void {
  const isDark = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    document.documentElement.className = localStorage.getItem('theme') || (isDark.matches ? 'dark' : 'light');
  };
  show();
  isDark.addEventListener('change', show);
  changes.addEventListener('change', show);
}
