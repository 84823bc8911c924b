import { ErrorResponse, ErrorTimeout, State, type User, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { OidcConfig } from '../../page-config.ts';
import { signedInPath } from './config.ts';
import { SignInError } from './sign-in-problem.ts';
import { readToken, type Token } from './token.ts';

const requestTimeoutS = 10;
// How long a window whose answer belongs to another page waits to be closed.
const closingMs = 3_000;

/** Somebody who has come back from the provider. */
export interface Arrival {
  /** The address where they were. */
  readonly returnTo: string;
  /** To be awaited at once: it rejects when they were not let in. */
  readonly token: Promise<Token>;
}

/**
 * Signs staff in with OpenID Connect: authorization code with PKCE, without frames. What the library keeps is in the session storage
 * of this tab. What signs in rejects with a `SignInError`.
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
      // The library would use a frame where there is no refresh token.
      automaticSilentRenew: false,
      requestTimeoutInSeconds: requestTimeoutS,
      ...this.#resource,
      extraTokenParams: this.#resource,
    });
  }

  /** Leaves for the provider. Resolves only when the person comes back with the browser's own button. */
  async signInByRedirect(returnTo: string): Promise<void> {
    await attempt(this.#manager.signinRedirect({ state: { returnTo } }));
  }

  /**
   * Signs in in a window over the page. If the person closes it, nothing comes of it: a provider may cut the tie to its window, and
   * then it seems closed at once. Another call takes the place of this one, which rejects then.
   */
  async signInByPopup(): Promise<Token> {
    this.#popup.abort();
    this.#popup = new AbortController();
    // A name of its own, because what was aborted closes its window.
    const popupWindowTarget = `sign-in-${crypto.randomUUID()}`;
    // The library opens the window by its name again, but would not say that it was blocked.
    if (window.open('', popupWindowTarget, 'popup,width=480,height=640') === null) throw new SignInError('blocked');
    const settings = { popupWindowTarget, popupAbortOnClose: false, popupSignal: this.#popup.signal };
    return toToken(await attempt(this.#manager.signinPopup(settings)));
  }

  /**
   * Receives the provider's answer in the address of the page. An answer that this tab did not ask for is passed on to the page that
   * has opened this window, which closes it.
   */
  async receive(address: string): Promise<Arrival> {
    const state = new URL(address).searchParams.get('state') ?? '';
    const stored = await this.#store.get(state);
    if (stored === null) {
      await this.#manager.signinPopupCallback(address);
      await new Promise((resolve) => setTimeout(resolve, closingMs));
      throw new SignInError('stale');
    }
    const { data } = await State.fromStorageString(stored);
    const token = attempt(this.#manager.signinRedirectCallback(address)).then((user) => toToken(user));
    return { returnTo: readReturnAddress(data), token };
  }

  /** Gets a new token with the refresh token of this tab. */
  async renew({ renewal }: Token): Promise<Token> {
    const user = await this.#manager.getUser();
    // Without one, the library would use a frame.
    if (!user?.refresh_token) throw new SignInError('stale');
    const renewed = await attempt(this.#manager.signinSilent(this.#resource));
    if (renewed === null) throw new SignInError('other');
    return toToken(renewed, renewal);
  }

  /** Ends the session at the provider, if the provider can do that. Leaves the page then. */
  async signOut(): Promise<void> {
    const canEnd = await this.#manager.metadataService.getEndSessionEndpoint();
    if (canEnd === undefined) await this.#manager.removeUser();
    else await this.#manager.signoutRedirect();
  }
}

function toToken(user: User, renewal: string = crypto.randomUUID()): Token {
  const { name, preferred_username, email } = user.profile;
  const token = readToken(user.access_token, {
    name: name || preferred_username || email || '',
    // By this computer's clock, which may be wrong.
    ...(user.expires_at !== undefined && { expiresAt: user.expires_at * 1_000 }),
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
      // The library puts the status of an answer that it can't read in brackets.
      throw /\(5\d\d\)/.test(message) ? new SignInError('unreachable') : new SignInError('other', message);
    }
    if (error.error === 'access_denied') throw new SignInError('denied');
    if (error.error === 'temporarily_unavailable') throw new SignInError('unreachable');
    // Whoever has made the link chooses the words of a description, so only the code is shown.
    throw new SignInError('other', /^\w{1,60}$/.test(error.error ?? '') ? (error.error ?? '') : '');
  }
}
