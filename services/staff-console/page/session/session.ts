import { useSyncExternalStore } from 'react';
import { clock } from './clock.ts';
import { isFromOtherSite, readPageConfig, readPageTime } from './config.ts';
import { describeProblem, type SignInProblem } from './sign-in-problem.ts';
import { packToken, readToken, type Token, unpackToken } from './token.ts';

/** The state of the session of the person who uses the page. */
export interface SessionState {
  /** Undefined until somebody signs in. */
  readonly token: Token | undefined;
  /**
   * Why the token is not valid: it has expired, is no longer accepted, or never was. The page stays as it is, and staff
   * sign in over it.
   */
  readonly ended: 'expired' | 'refused' | 'unaccepted' | undefined;
  /** Whether the page is still waiting for another tab's token, or processing the provider's answer. */
  readonly isStarting: boolean;
  readonly isRenewing: boolean;
  /** Whether a service has refused the person because they are not staff. */
  readonly isDenied: boolean;
  /** The token in a link on another site. It signs in only if the person agrees. */
  readonly offered: Token | undefined;
  /** Why signing in or out failed. */
  readonly problem: SignInProblem | undefined;
}

const signedOut: SessionState = {
  token: undefined,
  ended: undefined,
  isStarting: false,
  isRenewing: false,
  isDenied: false,
  offered: undefined,
  problem: undefined,
};
const storageKey = 'session';
// The longest delay of a timer, in milliseconds.
const longestTimer = 2 ** 31 - 1;
// A timer may fire a moment early.
const timerLeewayMs = 1_000;

/**
 * Holds this tab's token (design 11). It is stored only in the tab's session storage, where a reload finds it. A token
 * in the URL's fragment, as in the link that `npm start` prints, is removed from the URL at once.
 */
export class Session {
  #state = signedOut;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  /** @param takesLinks whether a token in the URL signs in. Otherwise it is only removed from the URL. */
  constructor(takesLinks: boolean) {
    const token = unpackToken(sessionStorage.getItem(storageKey));
    if (token !== undefined) this.signIn(token);
    const take = () => this.#takeLink(takesLinks);
    take();
    addEventListener('hashchange', take);
    clock.subscribe(() => this.#watchExpiry());
  }

  /** Removes a token from the URL. It signs in only where nobody is: another person's work must not go on as theirs. */
  #takeLink(takesLinks: boolean): void {
    const fragment = new URLSearchParams(location.hash.slice(1)).get('token');
    if (fragment === null) return;
    history.replaceState(history.state, '', location.href.split('#', 1)[0]);
    const { token, ended } = this.#state;
    if (!takesLinks || (token !== undefined && ended === undefined)) return;
    const linked = readToken(fragment);
    if (linked === undefined) this.update({ problem: describeProblem('badLink') });
    else if (linked.expiresAt <= clock.now()) this.update({ problem: describeProblem('endedLink') });
    else if (isFromOtherSite()) this.update({ offered: linked });
    else this.signIn(linked);
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
    this.#set({ ...signedOut, token });
    this.#watchExpiry();
  }

  /** Ends the session when its token expires, by the services' clock, which may have been corrected. */
  #watchExpiry(): void {
    const { token, ended } = this.#state;
    clearTimeout(this.#timer);
    if (token === undefined) return;
    const left = token.expiresAt - clock.now();
    if (left < longestTimer) this.#timer = setTimeout(() => this.end(token), left);
    if (ended === 'expired' && left > 0) this.#set({ ...this.#state, ended: undefined });
    else if (left <= 0) this.end(token);
  }

  /** Remembers that a service has accepted a token. */
  accept({ text }: Token): void {
    const { token } = this.#state;
    if (token?.text !== text || token.isAccepted) return;
    const accepted = { ...token, isAccepted: true };
    sessionStorage.setItem(storageKey, packToken(accepted));
    this.#set({ ...this.#state, token: accepted });
  }

  /** Ends the session of an expired or refused token, unless somebody has signed in again meanwhile. */
  end(token: Token): void {
    const current = this.#state.token;
    if (current?.text !== token.text) return;
    const isExpired = token.expiresAt <= clock.now() + timerLeewayMs;
    const ended = isExpired ? 'expired' : current.isAccepted ? 'refused' : 'unaccepted';
    this.#set({ ...this.#state, ended });
  }

  /** Stops renewing the token: another tab renews it, or the person must sign in again. */
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

  /** Changes the state other than the token. */
  update(change: Partial<Omit<SessionState, 'token' | 'ended'>>): void {
    this.#set({ ...this.#state, ...change });
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

const [arrival] = performance.getEntriesByType('navigation');
const arrivedMs = arrival instanceof PerformanceNavigationTiming ? arrival.responseStart : 0;
clock.start(readPageTime(), performance.timeOrigin + arrivedMs);

/** This tab's session. If staff sign in with a provider, another person's link must not sign them in. */
export const session = new Session(readPageConfig().oidc === undefined);

/** Returns the state of the session. Components that use it render again when it changes. */
export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}
