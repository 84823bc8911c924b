import { session } from './session.ts';
import { packToken, type Token, unpackToken } from './token.ts';

// Another tab answers within milliseconds, unless the machine is very busy. A later answer still counts.
const answerMs = 300;

/**
 * Shares an accepted sign-in between the tabs of this origin: a new tab asks the others for their token, and one where a
 * person signs in or out tells those of the same person. It stores nothing, and a refresh token never leaves its tab: if
 * two tabs used the same one, the provider would take the second for a thief.
 */
export function shareWithTabs(): void {
  const channel = new BroadcastChannel('staff-console-session');
  const post = (kind: string, token?: Token) => channel.postMessage({ kind, token: token && packToken(token) });
  let known = session.state.token?.isAccepted ? session.state.token : undefined;
  let isAsking = session.isNew;

  function take(theirs: Token): void {
    known = { ...theirs, renewal: session.state.token?.renewal };
    session.signIn(known);
  }

  channel.addEventListener('message', ({ data }) => {
    const { token, ended } = session.state;
    if (data.kind === 'asks' && token?.isAccepted && ended === undefined) post('offers', token);
    const theirs = unpackToken(data.token);
    if (theirs === undefined) return;
    if (token === undefined) {
      if (isAsking && data.kind !== 'signed-out') take(theirs);
    } else if (data.kind === 'offers') {
      // This tab is a duplicate of the other one.
      if (token.renewal !== undefined && token.renewal === theirs.renewal) session.stopRenewing();
    } else if (token.subject === theirs.subject && token.staffId === theirs.staffId) {
      if (data.kind === 'signed-in' && theirs.expiresAt > token.expiresAt) take(theirs);
      if (data.kind === 'signed-out') {
        known = undefined;
        // The session storage also holds the provider's data for this tab.
        sessionStorage.clear();
        session.signOut();
      }
    }
  });

  session.subscribe(() => {
    const { token } = session.state;
    if (token !== undefined) isAsking = false;
    if (token?.text === known?.text || token?.isAccepted === false) return;
    if (token !== undefined) post('signed-in', token);
    else if (known !== undefined) post('signed-out', known);
    known = token;
  });

  post('asks');
  if (!isAsking) return;
  session.update({ isStarting: true });
  setTimeout(() => session.update({ isStarting: false }), answerMs);
}
