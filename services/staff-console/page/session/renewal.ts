import { clock } from './clock.ts';
import type { Session } from './session.ts';
import { SignInError } from './sign-in-problem.ts';
import type { Token } from './token.ts';

// A browser delays the timers of a background tab by up to a minute.
const longestLeadMs = 120_000;
const retryMs = 10_000;

/**
 * Renews this tab's token before it expires, if the provider issued a refresh token. Keeps trying while the provider is
 * unreachable. Once the provider refuses, staff must sign in again.
 */
export function keepRenewed(session: Session, renew: (token: Token) => Promise<Token>): void {
  let followed: Token | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function renewNow(token: Token): Promise<void> {
    clearTimeout(timer);
    session.update({ isRenewing: true });
    try {
      const renewed = await renew(token);
      if (session.state.token?.text === token.text) session.signIn(renewed);
    } catch (error) {
      const isAway = error instanceof SignInError && error.problem.kind === 'unreachable';
      if (isAway) timer = setTimeout(() => void renewNow(token), retryMs);
      else if (session.state.token?.text === token.text) session.stopRenewing();
    } finally {
      session.update({ isRenewing: false });
    }
  }

  function follow(): void {
    const { token } = session.state;
    if (token?.text === followed?.text && token?.renewal === followed?.renewal) return;
    followed = token;
    clearTimeout(timer);
    if (token?.renewal === undefined) return;
    const left = token.expiresAt - clock.now();
    timer = setTimeout(() => void renewNow(token), Math.max(0, left - Math.min(left / 3, longestLeadMs)));
  }

  session.subscribe(follow);
  follow();
}
