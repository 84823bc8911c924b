import { clock } from './clock.ts';
import { SignInError } from './sign-in-error.ts';
import type { Token } from './token.ts';

// A browser delays the timers of a background tab by up to a minute.
const longestLeadMs = 120_000;
const retryMs = 10_000;
// A longer timer would fire at once.
const longestTimerMs = 2 ** 31 - 1;

/** What a renewal needs of a session. */
interface RenewedSession {
  readonly state: { readonly token?: Token };
  subscribe(listener: () => void): unknown;
  update(change: { readonly isRenewing: boolean }): void;
  signIn(token: Token): void;
  stopRenewing(): void;
}

/** Renews this tab's token before it expires, while the provider allows it. Keeps trying while it can't be reached. */
export function keepRenewed(session: RenewedSession, renew: (token: Token) => Promise<Token>): void {
  let followed: Token | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function renewNow(token: Token): Promise<void> {
    session.update({ isRenewing: true });
    try {
      const renewed = await renew(token);
      // Another person's token must not replace this one's, nor the page what was entered.
      if (renewed.subject !== token.subject || renewed.staffId !== token.staffId) throw new SignInError('otherPerson');
      if (session.state.token?.text === token.text) session.signIn(renewed);
    } catch (error) {
      const isAway = error instanceof SignInError && error.kind === 'unreachable';
      if (isAway) timer = setTimeout(() => void renewNow(token), retryMs);
      else if (session.state.token?.text === token.text) session.stopRenewing();
    } finally {
      session.update({ isRenewing: false });
    }
  }

  function plan(token: Token): void {
    const left = token.expiresAt - clock.now();
    const wait = left - Math.min(left / 3, longestLeadMs);
    const next = () => (wait > longestTimerMs ? plan(token) : void renewNow(token));
    timer = setTimeout(next, Math.min(wait, longestTimerMs));
  }

  function follow(): void {
    const { token } = session.state;
    if (token?.text === followed?.text && token?.renewal === followed?.renewal) return;
    followed = token;
    clearTimeout(timer);
    if (token?.renewal !== undefined) plan(token);
  }

  session.subscribe(follow);
  follow();
}
