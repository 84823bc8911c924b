import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { AuthConfig } from '../../shared/config/auth.ts';
import { listen } from './listen.ts';
import { signToken, type TokenOptions } from './tokens.ts';

/** How the provider answers requests for its key set, instead of with its keys. */
export type Answer = (response: ServerResponse) => void;

/** An issuer of tokens that serves its key set over HTTP. */
export class IdentityProvider {
  readonly auth: AuthConfig;
  /** Undefined: it answers with its keys. */
  answer: Answer | undefined;
  /** The requests for the key set so far. */
  requests = 0;
  /** The requests that are not answered yet, and the most that there ever were. */
  open = 0;
  maxOpen = 0;
  readonly #server: Server;
  readonly #keys = new Map<string, { alg: string; privateKey: CryptoKey; jwk: JWK }>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.auth = { kind: 'jwks', url: new URL(`http://127.0.0.1:${port}/keys`), issuer: 'idp', audience: 'admin' };
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.requests += 1;
      this.open += 1;
      this.maxOpen = Math.max(this.maxOpen, this.open);
      response.once('close', () => {
        this.open -= 1;
      });
      if (this.answer === undefined) response.end(this.keySet());
      else this.answer(response);
    });
  }

  /** @param kids the keys that it has from the start, of ES256. */
  static async start(...kids: string[]): Promise<IdentityProvider> {
    const server = createServer();
    const provider = new IdentityProvider(server, await listen(server));
    for (const kid of kids) await provider.addKey(kid);
    return provider;
  }

  /** Adds a key, or replaces the one of that id. */
  async addKey(kid: string, alg = 'ES256'): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg);
    this.#keys.set(kid, { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } });
  }

  removeKey(kid: string): void {
    this.#keys.delete(kid);
  }

  /** The key set as JSON. */
  keySet(): string {
    return JSON.stringify({ keys: [...this.#keys.values()].map(({ jwk }) => jwk) });
  }

  /** The `authorization` header with a token that a key has signed. */
  async bearer(kid: string, { claims, header, ...options }: Omit<TokenOptions, 'key'> = {}): Promise<string> {
    const key = this.#keys.get(kid);
    if (key === undefined) throw new Error(`there is no key ${kid}`);
    const token = await signToken({
      ...options,
      claims: { iss: 'idp', aud: 'admin', ...claims },
      key: key.privateKey,
      header: header ?? { alg: key.alg, kid },
    });
    return `Bearer ${token}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
