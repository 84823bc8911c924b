import { ErrorResponse, ErrorTimeout, State, type User, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { OidcConfig } from '../../page-config.ts';
import { clock } from './clock.ts';
import { signedInPath } from './config.ts';
import { SignInError } from './sign-in-problem.ts';
import { readToken, type Token } from './token.ts';

const requestTimeoutS = 10;
// How far the provider's clock may be off, in ms.
const leewayMs = 60_000;
// How long a popup waits for the page that opened it to close it.
const closingMs = 3_000;

/** A person's return from the provider. */
export interface Arrival {
  /** The path that they came from. */
  readonly returnTo: string;
  /** Must be awaited at once, because it rejects if the provider did not let them in. */
  readonly token: Promise<Token>;
}

/**
 * Signs staff in with OpenID Connect: authorization code with PKCE, without frames. The library keeps its data in this
 * tab's session storage. The methods that sign in reject with a `SignInError`.
 */
export class OpenIdConnect {
  readonly #manager: UserManager;
  readonly #store = new WebStorageStateStore({ store: sessionStorage });
  readonly #resource: { readonly resource?: string };
  #popup = new AbortController();

  constructor({ issuer, clientId, scope, resource }: OidcConfig) {
    this.#resource = resource === undefined ? {} : { resource };
    this.#manager = new UserManager({
      authority: issuer,
      client_id: clientId,
      scope,
      redirect_uri: location.origin + signedInPath,
      post_logout_redirect_uri: `${location.origin}/`,
      userStore: this.#store,
      stateStore: this.#store,
      // Without a refresh token, automatic renewal would use a frame.
      automaticSilentRenew: false,
      requestTimeoutInSeconds: requestTimeoutS,
      ...this.#resource,
      extraTokenParams: this.#resource,
    });
  }

  /** Navigates to the provider. Resolves only if the person comes back with the browser's Back button. */
  async signInByRedirect(returnTo: string): Promise<void> {
    await attempt(this.#manager.signinRedirect({ state: { returnTo }, nonce: crypto.randomUUID() }));
  }

  /**
   * Signs in in a popup over the page. Does not notice if the person closes the popup: a provider may cut the popup's
   * link to the page, and it would then seem closed at once. A further call replaces this one, which then rejects.
   */
  async signInByPopup(): Promise<Token> {
    this.#popup.abort();
    this.#popup = new AbortController();
    // Each popup has its own name, because an aborted attempt closes its popup.
    const popupWindowTarget = `sign-in-${crypto.randomUUID()}`;
    // The library opens the same popup again by its name, but would not report that the browser blocked it.
    if (window.open('', popupWindowTarget, 'popup,width=480,height=640') === null) throw new SignInError('blocked');
    const nonce = crypto.randomUUID();
    const settings = { nonce, popupWindowTarget, popupAbortOnClose: false, popupSignal: this.#popup.signal };
    return this.#toToken(await attempt(this.#manager.signinPopup(settings)));
  }

  /**
   * Receives the provider's answer in the page's URL. If this tab did not ask for the answer, passes it on to the page
   * that opened this popup. That page closes the popup.
   */
  async receive(address: string): Promise<Arrival> {
    const state = new URL(address).searchParams.get('state') ?? '';
    // The store has other things under other names, which an invented answer must not use up.
    const stored = /^[0-9a-f]{32}$/.test(state) ? await this.#store.get(state) : null;
    if (stored === null) {
      await this.#manager.signinPopupCallback(address);
      await new Promise((resolve) => setTimeout(resolve, closingMs));
      throw new SignInError('stale');
    }
    const { data } = await State.fromStorageString(stored);
    const token = attempt(this.#manager.signinRedirectCallback(address)).then((user) => this.#toToken(user));
    return { returnTo: readReturnAddress(data), token };
  }

  /** Gets a new token with the refresh token of this tab. */
  async renew({ renewal }: Token): Promise<Token> {
    const user = await this.#manager.getUser();
    // Without a refresh token, the library would use a frame.
    if (!user?.refresh_token) throw new SignInError('stale');
    const renewed = await attempt(this.#manager.signinSilent(this.#resource));
    if (renewed === null) throw new SignInError('other');
    return this.#toToken(renewed, renewal);
  }

  /** Ends the session at the provider, if it supports that, by navigating to it. */
  async signOut(): Promise<void> {
    const user = await this.#manager.getUser();
    // At once: a provider that does not answer must not keep the tokens in this tab.
    await this.#manager.removeUser();
    const canEnd = await this.#manager.metadataService.getEndSessionEndpoint();
    if (canEnd !== undefined)
      await this.#manager.signoutRedirect(user?.id_token ? { id_token_hint: user.id_token } : {});
  }

  /** Checks that the ID token is this provider's, for this client and of now. The library checks its nonce. */
  async #toToken(user: User, renewal: string = crypto.randomUUID()): Promise<Token> {
    const { iss, aud, exp, sub } = user.profile;
    const issuer = await this.#manager.metadataService.getIssuer();
    const isForUs = [aud].flat().includes(this.#manager.settings.client_id);
    if (iss !== issuer || !isForUs || !sub || exp * 1_000 < clock.now() - leewayMs) throw new SignInError('other');
    return toToken(user, renewal);
  }
}

function toToken(user: User, renewal: string): Token {
  const { name, preferred_username, email } = user.profile;
  const token = readToken(user.access_token, {
    // A provider may send anything as a name.
    name: [name, preferred_username, email].find((each) => typeof each === 'string' && each !== '') ?? '',
    ...(user.refresh_token && { renewal }),
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
    throw new SignInError('other', /^\w{1,60}$/.test(error.error ?? '') ? (error.error ?? '') : '');
  }
}
