import {
  type CryptoKey,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { AuthConfig } from '../config/auth.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { currentTraceparent } from '../telemetry/trace-context.ts';

/** The claims of a token that this project reads. */
export interface Claims {
  readonly subject: string;
  readonly staffId: number | undefined;
}

/** Verifies a bearer token and returns its claims; see `createTokenVerifier` for its errors. */
export type TokenVerifier = (token: string) => Promise<Claims>;

const leewaySeconds = 5;
const maxCachedTokens = 10_000;
// Valid tokens are shorter; longer ones would only fill the cache.
const maxTokenLength = 8192;

/**
 * Creates the function that verifies bearer tokens. The configured kind of key decides which algorithms are allowed,
 * never the token. A verified token is cached until it expires.
 *
 * The function throws UNAUTHENTICATED `Authentication required` for a token that is not valid, and UNAVAILABLE if the
 * key set can't be fetched.
 */
export async function createTokenVerifier(config: AuthConfig, metrics: Metrics): Promise<TokenVerifier> {
  const verify = await createSignatureCheck(config);
  const verified = new LRUCache<string, Claims>({ max: maxCachedTokens, ttl: 1, ttlResolution: 0 });
  metrics.gauge(
    { name: 'verified_tokens_cached', help: 'Tokens whose signature is known to be good.' },
    () => verified.size,
  );

  async function verifyNew(token: string): Promise<Claims> {
    if (token.length > maxTokenLength) throw fail(commonErrors.authenticationRequired);
    const payload = await verify(token).catch((cause: unknown) => {
      throw fail(isTokenError(cause) ? commonErrors.authenticationRequired : commonErrors.keysUnavailable, { cause });
    });
    const claims = readClaims(payload);
    const expiresInMs = ((payload.exp ?? 0) + leewaySeconds) * 1000 - Date.now();
    if (expiresInMs > 0) verified.set(token, claims, { ttl: Math.ceil(expiresInMs) });
    return claims;
  }

  return async (token) => verified.get(token) ?? verifyNew(token);
}

async function createSignatureCheck(config: AuthConfig): Promise<(token: string) => Promise<JWTPayload>> {
  const options: JWTVerifyOptions = {
    algorithms: config.kind === 'secret' ? ['HS256'] : ['RS256', 'ES256', 'EdDSA'],
    clockTolerance: leewaySeconds,
    requiredClaims: ['sub', 'exp'],
    ...(config.issuer === undefined ? {} : { issuer: config.issuer }),
    ...(config.audience === undefined ? {} : { audience: config.audience }),
  };
  if (config.kind === 'jwks') {
    const keys = createRemoteJWKSet(config.url, { [customFetch]: fetchInTrace });
    return async (token) => (await jwtVerify(token, keys, options)).payload;
  }
  // Imported once, because jose would import raw bytes again for each token.
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const importKey = (secret: string) =>
    crypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['verify']);
  const keys = await Promise.all(config.secrets.map(importKey));
  const check = async (token: string, [key, ...others]: CryptoKey[]): Promise<JWTPayload> => {
    if (key === undefined) throw new errors.JWSSignatureVerificationFailed();
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed && others.length > 0) return check(token, others);
      throw error;
    }
  };
  return (token) => check(token, keys);
}

/** Fetches the key set within the trace of the call that needs it. */
const fetchInTrace: FetchImplementation = (url, options) => {
  const traceparent = currentTraceparent();
  if (traceparent !== undefined) options.headers.set('traceparent', traceparent);
  return fetch(url, options);
};

/** Whether the error is that of an invalid token, and not that of fetching the key set. */
function isTokenError(error: unknown): boolean {
  return (
    error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC'
  );
}

function readClaims(payload: JWTPayload): Claims {
  const { sub, staff_id: staffId } = payload;
  if (typeof sub !== 'string' || sub === '') throw fail(commonErrors.authenticationRequired);
  if (staffId === undefined || staffId === null) return { subject: sub, staffId: undefined };
  if (typeof staffId !== 'number' || !Number.isInteger(staffId)) throw fail(commonErrors.authenticationRequired);
  return { subject: sub, staffId };
}
