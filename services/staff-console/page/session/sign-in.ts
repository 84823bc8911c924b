import { pageConfig, signedInPath } from './config.ts';
import { keepRenewed } from './renewal.ts';
import { session } from './session.ts';
import { SignInError } from './sign-in-error.ts';
import { shareWithTabs } from './tabs.ts';

/** Whether staff sign in with a provider instead of pasting a token. */
export const hasProvider = pageConfig.oidc !== undefined;

let attempts = 0;

/** Loads the code for signing in with the provider. A page without a provider never loads it. */
async function loadProvider() {
  if (!isSecureContext) throw new SignInError('insecure');
  return import('./oidc.ts').catch(() => {
    throw new SignInError('unreachable');
  });
}

/** Loads the sign-in code in advance, because a browser blocks a window that opens long after the click. */
export const prepareSignIn = (): void => void loadProvider().catch(() => undefined);

/** Begins this page's session, with the provider's answer in the URL, which is then replaced, or with another tab's. */
export function startSession(replaceAddress: (address: string) => Promise<void>): void {
  const isAnswer =
    hasProvider && location.pathname === signedInPath && new URLSearchParams(location.search).has('state');
  if (isAnswer) void receiveAnswer(replaceAddress).finally(shareWithTabs);
  else shareWithTabs();
  if (hasProvider) keepRenewed(session, async (token) => (await loadProvider()).renew(token));
}

async function receiveAnswer(replaceAddress: (address: string) => Promise<void>): Promise<void> {
  session.update({ isStarting: true });
  let returnTo = '/';
  try {
    const arrival = await (await loadProvider()).receive(location.href);
    returnTo = arrival.returnTo;
    const token = await arrival.token;
    await replaceAddress(returnTo);
    session.signIn(token);
  } catch (error) {
    await replaceAddress(returnTo);
    session.update({ isStarting: false, problem: toSignInError(error) });
  }
}

/** Navigates to the provider, which then sends the person back to the current URL. */
export function signInByRedirect(): Promise<void> {
  const { pathname, search, hash } = location;
  return attempt(async () => (await loadProvider()).signInByRedirect(pathname + search + hash));
}

/** Signs in in a popup, so that nothing on the page is lost. */
export function signInByPopup(): Promise<void> {
  return attempt(async () => session.signIn(await (await loadProvider()).signInByPopup()));
}

/** Signs out here, in the same person's other tabs and, if possible, at the provider. Never rejects. */
export async function signOut(): Promise<void> {
  session.signOut();
  if (!hasProvider) return;
  try {
    await (await loadProvider()).signOut();
  } catch {
    sessionStorage.clear();
    session.signOut();
    session.update({ problem: new SignInError('stillSignedIn') });
  }
}

/** Runs a step of signing in. Never rejects: the session shows the problem, unless a later attempt has begun. */
async function attempt(step: () => Promise<void>): Promise<void> {
  attempts += 1;
  const mine = attempts;
  session.update({ problem: undefined });
  try {
    await step();
  } catch (error) {
    if (mine === attempts) session.update({ problem: toSignInError(error) });
  }
}

const toSignInError = (error: unknown) => (error instanceof SignInError ? error : new SignInError('other'));
