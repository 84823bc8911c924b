import { ErrorResponse, ErrorTimeout, State, type User, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import { clock } from './clock.ts';
import { pageConfig, signedInPath } from './config.ts';
import { SignInError } from './sign-in-error.ts';
import { readToken, type Token } from './token.ts';

// Signs staff in with OpenID Connect: authorization code with PKCE, without frames. The library keeps its data in this
// tab's session storage. What fails to sign in rejects with a `SignInError`.

// The provider's clock may be off.
const leewayMs = 60_000;
// How long a popup waits for the page that opened it to close it.
const closingMs = 3_000;

if (pageConfig.oidc === undefined) throw new Error('there is no provider');
const { issuer, clientId, scope, resource } = pageConfig.oidc;
const ofResource = resource === undefined ? {} : { resource };
const store = new WebStorageStateStore({ store: sessionStorage });
const manager = new UserManager({
  authority: issuer,
  client_id: clientId,
  scope,
  redirect_uri: location.origin + signedInPath,
  post_logout_redirect_uri: `${location.origin}/`,
  userStore: store,
  stateStore: store,
  // Without a refresh token, automatic renewal would use a frame.
  automaticSilentRenew: false,
  requestTimeoutInSeconds: 10,
  ...ofResource,
  extraTokenParams: ofResource,
});
let popup = new AbortController();

/** Navigates to the provider. Resolves only if the person comes back with the browser's Back button. */
export async function signInByRedirect(returnTo: string): Promise<void> {
  await attempt(manager.signinRedirect({ state: { returnTo }, nonce: crypto.randomUUID() }));
}

/**
 * Signs in in a popup over the page. Does not notice if the person closes it: a provider may cut its link to the page,
 * and it would then seem closed at once. A further call replaces this one, which then rejects.
 */
export async function signInByPopup(): Promise<Token> {
  popup.abort();
  popup = new AbortController();
  // Each popup has its own name, because an aborted attempt closes its popup.
  const popupWindowTarget = `sign-in-${crypto.randomUUID()}`;
  // The library opens the same popup again by its name, but would not report that the browser blocked it.
  if (window.open('', popupWindowTarget, 'popup,width=480,height=640') === null) throw new SignInError('blocked');
  const nonce = crypto.randomUUID();
  const settings = { nonce, popupWindowTarget, popupAbortOnClose: false, popupSignal: popup.signal };
  return toToken(await attempt(manager.signinPopup(settings)));
}

/**
 * Receives the provider's answer in the page's URL: where the person came from, and their token, to be awaited at once.
 * If another page has asked for the answer, it gets it, and closes this popup.
 */
export async function receive(address: string): Promise<{ readonly returnTo: string; readonly token: Promise<Token> }> {
  const state = new URL(address).searchParams.get('state') ?? '';
  // The store has other things under other names, which an invented answer must not use up.
  const stored = /^[0-9a-f]{32}$/.test(state) ? await store.get(state) : null;
  if (stored === null) {
    await manager.signinPopupCallback(address);
    await new Promise((resolve) => setTimeout(resolve, closingMs));
    throw new SignInError('stale');
  }
  const { data } = await State.fromStorageString(stored);
  return {
    returnTo: readReturnAddress(data),
    token: attempt(manager.signinRedirectCallback(address)).then((user) => toToken(user)),
  };
}

/** Gets a new token with the refresh token of this tab. */
export async function renew({ renewal }: Token): Promise<Token> {
  // Without a refresh token, the library would use a frame.
  if (!(await manager.getUser())?.refresh_token) throw new SignInError('stale');
  const user = await attempt(manager.signinSilent(ofResource));
  if (user === null) throw new SignInError('other');
  return toToken(user, renewal);
}

/** Ends the session at the provider, if it supports that, by navigating to it. */
export async function signOut(): Promise<void> {
  const user = await manager.getUser();
  // At once: a provider that does not answer must not keep the tokens in this tab.
  await manager.removeUser();
  const canEnd = await manager.metadataService.getEndSessionEndpoint();
  if (canEnd !== undefined) await manager.signoutRedirect(user?.id_token ? { id_token_hint: user.id_token } : {});
}

/** Checks that the ID token is this provider's, for this client and of now. The library checks its nonce. */
async function toToken(user: User, renewal: string = crypto.randomUUID()): Promise<Token> {
  const { iss, aud, exp, sub, name, preferred_username, email } = user.profile;
  const isForUs = iss === (await manager.metadataService.getIssuer()) && [aud].flat().includes(clientId);
  if (!isForUs || !sub || exp * 1_000 < clock.now() - leewayMs) throw new SignInError('other');
  const token = readToken(user.access_token, {
    // A provider may send anything as a name.
    name: [name, preferred_username, email].find((each) => typeof each === 'string' && each !== '') ?? '',
    renewal: user.refresh_token ? renewal : undefined,
  });
  if (token === undefined) throw new SignInError('unreadable');
  return token;
}

function readReturnAddress(data: unknown): string {
  const address = typeof data === 'object' && data !== null && 'returnTo' in data ? data.returnTo : undefined;
  const isOurs = typeof address === 'string' && /^\/(?!\/)/.test(address) && !address.startsWith(signedInPath);
  return isOurs ? address : '/';
}

async function attempt<T>(attempted: Promise<T>): Promise<T> {
  try {
    return await attempted;
  } catch (error) {
    if (error instanceof ErrorTimeout || error instanceof TypeError) throw new SignInError('unreachable');
    if (!(error instanceof ErrorResponse)) {
      const message = error instanceof Error ? error.message : '';
      // If the library can't read an answer, its message has the HTTP status in parentheses.
      throw /\(5\d\d\)/.test(message) ? new SignInError('unreachable') : new SignInError('other', message);
    }
    if (error.error === 'access_denied') throw new SignInError('denied');
    if (error.error === 'temporarily_unavailable') throw new SignInError('unreachable');
    // The author of a link controls its error description, so only the code is shown.
    throw new SignInError('other', /^\w{1,60}$/.exec(error.error ?? '')?.[0]);
  }
}
