import { useSyncExternalStore } from 'react';
import { readToken, type Token } from './token.ts';

/** Who works with the page. */
export interface SessionState {
  /** Undefined until somebody signs in. */
  readonly token: Token | undefined;
  /** Whether the token has ended or was refused: what is on the page stays, and staff sign in over it. */
  readonly hasEnded: boolean;
}

const storageKey = 'token';
// A timer takes at most so many milliseconds.
const longestTimer = 2 ** 31 - 1;

/**
 * Holds the token of this tab (design 11). It is kept in the tab's session storage, so that a reload finds it, and nowhere else. A
 * token in the address' fragment, where `npm start` prints it, is taken out of the address at once.
 */
export class Session {
  #state: SessionState = { token: undefined, hasEnded: false };
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor() {
    const fragment = new URLSearchParams(location.hash.slice(1)).get('token');
    if (fragment !== null) history.replaceState(history.state, '', location.pathname + location.search);
    const token = readToken(fragment ?? sessionStorage.getItem(storageKey) ?? '');
    if (token !== undefined) this.signIn(token);
  }

  get state(): SessionState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  signIn(token: Token): void {
    sessionStorage.setItem(storageKey, token.text);
    clearTimeout(this.#timer);
    const left = token.expiresAt - Date.now();
    if (left < longestTimer) this.#timer = setTimeout(() => this.end(token), left);
    this.#set({ token, hasEnded: left <= 0 });
  }

  /** Ends the session of a token that has expired or was refused; not if somebody has signed in again meanwhile. */
  end(token: Token): void {
    if (this.#state.token === token) this.#set({ token, hasEnded: true });
  }

  signOut(): void {
    sessionStorage.removeItem(storageKey);
    clearTimeout(this.#timer);
    this.#set({ token: undefined, hasEnded: false });
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** The session of this tab. */
export const session = new Session();

/** The state of the session; components that use it follow its changes. */
export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}
