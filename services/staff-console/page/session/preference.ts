import { useSyncExternalStore } from 'react';

/** Returns what this browser keeps of a person's choice, or '' if nothing was chosen, and a function that keeps another. */
export function usePreference(name: string): readonly [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => localStorage.getItem(name) ?? '');
  const set = (chosen: string) => {
    localStorage.setItem(name, chosen);
    dispatchEvent(new Event('preference'));
  };
  return [value, set];
}

function subscribe(listener: () => void): () => void {
  addEventListener('preference', listener);
  return () => removeEventListener('preference', listener);
}

/** Gives the page the look that was chosen in this browser or, without a choice, that of the computer. */
export function followTheme(): void {
  const isDark = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    document.documentElement.className = localStorage.getItem('theme') || (isDark.matches ? 'dark' : 'light');
  };
  show();
  isDark.addEventListener('change', show);
  subscribe(show);
}
