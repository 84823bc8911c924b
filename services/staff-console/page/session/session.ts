import { clock } from './clock.ts';
import { isFromOtherSite, pageConfig, pageTime } from './config.ts';
import { SignInError } from './sign-in-error.ts';
import { Signal, useSignal } from './signal.ts';
import { packToken, readToken, type Token, unpackToken } from './token.ts';

/** The state of the session of the person who uses the page. */
export interface SessionState {
  readonly token?: Token;
  /** Why the token is not valid. The page stays as it is, and staff sign in over it. */
  readonly ended?: 'expired' | 'refused' | 'unaccepted' | undefined;
  /** Whether the page is still waiting for another tab's token, or processing the provider's answer. */
  readonly isStarting?: boolean;
  readonly isRenewing?: boolean;
  /** Whether a service has refused the person because they are not staff. */
  readonly isDenied?: boolean;
  /** The token in a link on another site. It signs in only if the person agrees. */
  readonly offered?: Token | undefined;
  readonly problem?: SignInError | undefined;
}

const storageKey = 'session';
const longestTimerMs = 2 ** 31 - 1;
// A timer may fire a moment early.
const timerLeewayMs = 1_000;

/** Holds this tab's token, in the tab's session storage only, where a reload finds it (design 11). */
class Session extends Signal<SessionState> {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super({});
    const token = unpackToken(sessionStorage.getItem(storageKey));
    if (token !== undefined) this.signIn(token);
    this.#takeLink();
    addEventListener('hashchange', () => this.#takeLink());
    clock.subscribe(() => this.#watchExpiry());
  }

  /** Whether nobody has signed in or out in this tab yet. */
  get isNew(): boolean {
    return sessionStorage.getItem(storageKey) === null;
  }

  /** Removes a token from the URL. It signs in only where nobody is: a person's work must not go on as another's. */
  #takeLink(): void {
    const fragment = new URLSearchParams(location.hash.slice(1)).get('token');
    if (fragment === null) return;
    history.replaceState(history.state, '', location.href.split('#', 1)[0]);
    const { token, ended } = this.state;
    if (pageConfig.oidc !== undefined || (token !== undefined && ended === undefined)) return;
    const linked = readToken(fragment);
    if (linked === undefined) this.update({ problem: new SignInError('badLink') });
    else if (linked.expiresAt <= clock.now()) this.update({ problem: new SignInError('endedLink') });
    else if (isFromOtherSite) this.update({ offered: linked });
    else this.signIn(linked);
  }

  signIn(token: Token): void {
    this.#keep(token, {});
    this.#watchExpiry();
  }

  /** Stores a token, and makes it the one of a state. */
  #keep(token: Token, state: SessionState): void {
    sessionStorage.setItem(storageKey, packToken(token));
    this.set({ ...state, token });
  }

  /** Ends the session when its token expires, by the services' clock, which may have been corrected. */
  #watchExpiry(): void {
    const { token, ended } = this.state;
    clearTimeout(this.#timer);
    if (token === undefined) return;
    const left = token.expiresAt - clock.now();
    if (left < longestTimerMs) this.#timer = setTimeout(() => this.end(token), left);
    if (left <= 0) this.end(token);
    else if (ended === 'expired') this.update({ ended: undefined });
  }

  /** Remembers that a service has accepted a token. */
  accept({ text }: Token): void {
    const { token } = this.state;
    if (token?.text === text && !token.isAccepted) this.#keep({ ...token, isAccepted: true }, this.state);
  }

  /** Ends the session of an expired or refused token, unless somebody has signed in again meanwhile. */
  end({ text, expiresAt }: Token): void {
    const { token } = this.state;
    if (token?.text !== text) return;
    const isExpired = expiresAt <= clock.now() + timerLeewayMs;
    this.update({ ended: isExpired ? 'expired' : token.isAccepted ? 'refused' : 'unaccepted' });
  }

  /** Stops renewing the token: another tab renews it, or the person must sign in again. */
  stopRenewing(): void {
    const { token } = this.state;
    if (token !== undefined) this.#keep({ ...token, renewal: undefined }, this.state);
  }

  signOut(): void {
    sessionStorage.setItem(storageKey, '');
    clearTimeout(this.#timer);
    this.set({});
  }

  /** Changes the state other than the token. */
  update(change: Omit<SessionState, 'token'>): void {
    this.set({ ...this.state, ...change });
  }
}

const [arrival] = performance.getEntriesByType('navigation');
const arrivedMs = arrival instanceof PerformanceNavigationTiming ? arrival.responseStart : 0;
clock.correct(pageTime, performance.timeOrigin + arrivedMs);

export const session = new Session();

/** Returns the state of this tab's session. */
export const useSession = (): SessionState => useSignal(session);
