import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepRenewed } from '../../../services/staff-console/page/session/renewal.ts';
import type { Token } from '../../../services/staff-console/page/session/token.ts';

const dayMs = 86_400_000;

describe('The renewal of a token', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  /**
   * Lets the time pass at once. Nothing else of this process runs meanwhile: what an earlier test has left would set a
   * timer for each second of these days.
   */
  async function pass(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms);
    await turnOfEventLoop();
  }

  const tokenFor = (ms: number, part: Partial<Token> = {}): Token => ({
    ...{ text: `good for ${ms}`, subject: 'asha', staffId: 1, name: 'Asha', isAccepted: true, renewal: 'this tab' },
    expiresAt: Date.now() + ms,
    ...part,
  });

  /** A session with a token, and what is done to it. */
  function sessionWith(token: Token) {
    const done: string[] = [];
    return {
      done,
      state: { token },
      subscribe: () => () => true,
      update: () => undefined,
      signIn: ({ text }: Token) => void done.push(text),
      stopRenewing: () => void done.push('stopped'),
    };
  }

  it('A token that is good for longer than the longest timer is renewed once, shortly before its end', async () => {
    const session = sessionWith(tokenFor(60 * dayMs));
    const renew = vi.fn(async () => tokenFor(60 * dayMs, { text: 'new' }));
    keepRenewed(session, renew);
    await pass(59 * dayMs);
    expect(renew).not.toHaveBeenCalled();
    await pass(dayMs);
    expect(renew).toHaveBeenCalledTimes(1);
    expect(session.done).toEqual(['new']);
  });

  it.each([
    ['subject', { subject: 'ravi' }],
    ['staff number', { staffId: 2 }],
  ])('A token of another %s does not take the place of the one that it should renew', async (_what, other) => {
    const session = sessionWith(tokenFor(dayMs));
    keepRenewed(session, async () => tokenFor(dayMs, { text: 'of another', ...other }));
    await pass(dayMs);
    expect(session.done).toEqual(['stopped']);
  });
});
