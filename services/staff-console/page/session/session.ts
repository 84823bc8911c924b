import { useSyncExternalStore } from 'react';
import { readPageConfig } from './config.ts';
import type { SignInProblem } from './sign-in-problem.ts';
import { packToken, readToken, type Token, unpackToken } from './token.ts';

/** Who works with the page. */
export interface SessionState {
  /** Undefined until somebody signs in. */
  readonly token: Token | undefined;
  /** Why the token is good for nothing any more: what is on the page stays, and staff sign in over it. */
  readonly ended: 'expired' | 'refused' | undefined;
  /** Whether it is still open if somebody is signed in: another tab was asked, or the provider has sent an answer. */
  readonly isStarting: boolean;
  readonly isRenewing: boolean;
  /** Whether a service has said that this is no staff user. */
  readonly isDenied: boolean;
  /** Why signing in or out has not worked. */
  readonly problem: SignInProblem | undefined;
}

const signedOut: SessionState = {
  token: undefined,
  ended: undefined,
  isStarting: false,
  isRenewing: false,
  isDenied: false,
  problem: undefined,
};
const storageKey = 'session';
// A timer takes at most so many milliseconds.
const longestTimer = 2 ** 31 - 1;
// A timer may come a moment early.
const timerLeewayMs = 1_000;

/**
 * Holds the token of this tab (design 11). It is kept in the tab's session storage, so that a reload finds it, and nowhere else. A
 * token in the address' fragment, where `npm start` prints it, is taken out of the address at once.
 */
export class Session {
  #state = signedOut;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  /** @param takesLinks whether a token in the address signs in, and is not only taken out of it. */
  constructor(takesLinks: boolean) {
    const fragment = new URLSearchParams(location.hash.slice(1)).get('token');
    if (fragment !== null) history.replaceState(history.state, '', location.href.split('#', 1)[0]);
    const linked = takesLinks ? readToken(fragment ?? '') : undefined;
    const token = linked ?? unpackToken(sessionStorage.getItem(storageKey));
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
    sessionStorage.setItem(storageKey, packToken(token));
    clearTimeout(this.#timer);
    const left = token.expiresAt - Date.now();
    if (left < longestTimer) this.#timer = setTimeout(() => this.end(token), left);
    this.#set({ ...signedOut, token, ended: left > 0 ? undefined : 'expired' });
  }

  /** Ends the session of a token that has expired or was refused; not if somebody has signed in again meanwhile. */
  end(token: Token): void {
    const ended = token.expiresAt <= Date.now() + timerLeewayMs ? 'expired' : 'refused';
    if (this.#state.token?.text === token.text) this.#set({ ...this.#state, ended });
  }

  /** Leaves the renewal of the token to others: to another tab, or to the person. */
  stopRenewing(): void {
    const { token } = this.#state;
    if (token === undefined) return;
    const kept = { ...token, renewal: undefined };
    sessionStorage.setItem(storageKey, packToken(kept));
    this.#set({ ...this.#state, token: kept });
  }

  /** Whether nobody has signed in or out in this tab yet. */
  get isNew(): boolean {
    return sessionStorage.getItem(storageKey) === null;
  }

  signOut(): void {
    sessionStorage.setItem(storageKey, '');
    clearTimeout(this.#timer);
    this.#set(signedOut);
  }

  /** Changes what is known beside the token. */
  update(change: Partial<Omit<SessionState, 'token' | 'ended'>>): void {
    this.#set({ ...this.#state, ...change });
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** The session of this tab. Where staff sign in with a provider, nobody else's link may sign them in. */
export const session = new Session(readPageConfig().oidc === undefined);

/** The state of the session; components that use it follow its changes. */
export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}
