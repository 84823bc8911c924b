import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import type { AuthConfig } from '../../shared/config/auth.ts';
import { listen } from './listen.ts';

/** What the provider does, unless a test changes it. */
export interface ProviderBehaviour {
  /** How long access tokens are good for, in seconds. */
  tokenSeconds: number;
  givesRefreshTokens: boolean;
  /** The staff user that a person is: a number, but for a provider that is set up wrongly. */
  staffIdOf(subject: string): number | string | undefined;
  /** The name in the ID token. */
  nameOf(subject: string): unknown;
  /** Whether it cuts the tie between its window and the page that opened it. */
  isolatesWindows: boolean;
}

/** The client that the console is for the provider. */
export const consoleClientId = 'staff-console';
/** What the services are for the provider: the audience of access tokens. */
export const serviceResource = 'https://delivery-admin.example';

/**
 * A real OpenID Connect provider on a free port. Its sign-in page asks for a name and for nothing else, and takes whatever is asked
 * of it as allowed.
 */
export class OidcProvider {
  readonly issuer: string;
  /** How services verify its tokens. */
  readonly auth: AuthConfig;
  readonly behaviour: ProviderBehaviour = {
    tokenSeconds: 3_600,
    givesRefreshTokens: false,
    staffIdOf: () => 1,
    nameOf: (subject) => `${subject} of the provider`,
    isolatesWindows: false,
  };
  /** The requests for tokens that it has granted so far. */
  readonly grants: { readonly type: unknown; readonly resource: unknown }[] = [];
  readonly #server: Server;
  readonly #port: number;
  #provider: Provider | undefined;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
    this.issuer = `http://localhost:${port}`;
    const url = new URL(`${this.issuer}/jwks`);
    this.auth = { kind: 'jwks', url, issuer: this.issuer, audience: serviceResource };
    server.on('request', (request, response) => this.#answer(request, response));
  }

  static async start(): Promise<OidcProvider> {
    const server = createServer();
    return new OidcProvider(server, await listen(server));
  }

  /** The variables with which a console uses it. */
  get variables(): Readonly<Record<string, string>> {
    return {
      CONSOLE_OIDC_ISSUER: this.issuer,
      CONSOLE_OIDC_CLIENT_ID: consoleClientId,
      CONSOLE_OIDC_RESOURCE: serviceResource,
    };
  }

  /** Lets the console of an origin use it. */
  async register(origin: string): Promise<void> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' };
    this.#provider = new Provider(this.issuer, this.#configure(origin, key));
    this.#provider.on('grant.success', ({ oidc: { params } }) => {
      this.grants.push({ type: params?.grant_type, resource: params?.resource });
    });
    this.#provider.on('server_error', (_context, error) => console.error(error));
  }

  #configure(origin: string, key: Record<string, unknown>): Configuration {
    const { behaviour } = this;
    return {
      jwks: { keys: [key] },
      cookies: { keys: ['for tests only'] },
      clients: [
        {
          client_id: consoleClientId,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token'],
          redirect_uris: [`${origin}/signed-in`],
          post_logout_redirect_uris: [`${origin}/`],
          id_token_signed_response_alg: 'ES256',
        },
      ],
      clientBasedCORS: (_context, calling) => calling === origin,
      findAccount: (_context, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, name: behaviour.nameOf(accountId) }),
      }),
      conformIdTokenClaims: false,
      claims: { openid: ['sub', 'name'] },
      extraTokenClaims(_context, token) {
        const staffId = 'accountId' in token ? behaviour.staffIdOf(token.accountId ?? '') : undefined;
        return staffId === undefined ? undefined : { staff_id: staffId };
      },
      issueRefreshToken: () => Promise.resolve(behaviour.givesRefreshTokens),
      loadExistingGrant: grantEverything,
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: { enabled: true, logoutSource },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, resource) => ({
            scope: '',
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: behaviour.tokenSeconds,
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const provider = this.#provider;
    const url = new URL(request.url ?? '/', this.issuer);
    if (this.behaviour.isolatesWindows) response.setHeader('cross-origin-opener-policy', 'same-origin');
    if (provider === undefined) response.writeHead(503).end();
    else if (url.pathname.startsWith('/interaction/')) void interact(provider, url, request, response);
    else void provider.callback()(request, response);
  }

  /** Stops answering until `comeBack`. */
  goAway(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    return closed;
  }

  async comeBack(): Promise<void> {
    await listen(this.#server, this.#port);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

type LoadGrant = NonNullable<Configuration['loadExistingGrant']>;

/** Grants whatever the client asks for, so that no page asks for consent. */
const grantEverything: LoadGrant = async ({ oidc }) => {
  const { client, session, provider } = oidc;
  const known = client && oidc.result?.consent?.grantId;
  if (known) return provider.Grant.find(known);
  const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' });
  grant.addOIDCScope('openid profile offline_access');
  await grant.save();
  return grant;
};

/** The sign-in page: `?name` signs in, `?cancel` does not. */
async function interact(provider: Provider, url: URL, request: IncomingMessage, response: ServerResponse) {
  const name = url.searchParams.get('name');
  if (name !== null) {
    await provider.interactionFinished(request, response, { login: { accountId: name } });
  } else if (url.searchParams.has('cancel')) {
    await provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'Canceled' });
  } else {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>
      <title>The provider</title>
      <h1>The provider</h1>
      <form><label>Name <input name="name"></label><button>Continue</button></form>
      <form><input type="hidden" name="cancel"><button>Cancel</button></form>`);
  }
}

function logoutSource(context: { body: unknown }, form: string): void {
  context.body = `<!doctype html>
    <title>The provider</title>
    <h1>Sign out of the provider?</h1>
    ${form}
    <button form="op.logoutForm" name="logout" value="yes">Yes</button>`;
}
