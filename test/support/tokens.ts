import type { Transport } from '@connectrpc/connect';
import { type CryptoKey, type JWTHeaderParameters, SignJWT } from 'jose';

/** The secret of every service under test. */
export const testSecret = 'a secret of more than thirty-two bytes for tests only';

export interface TokenOptions {
  readonly staffId?: unknown;
  readonly subject?: string;
  /** Seconds from now. */
  readonly expiresIn?: number;
  readonly claims?: Record<string, unknown>;
  /** A secret, or a private key for the algorithm that the header names. */
  readonly key?: string | CryptoKey;
  readonly header?: JWTHeaderParameters;
}

/** A token signed with the test secret unless told otherwise; without `staffId` it has no staff identity. */
export function signToken(options: TokenOptions = {}): Promise<string> {
  const { staffId, subject = 'tester', expiresIn = 3600, claims = {}, key, header } = options;
  const exp = Math.floor(Date.now() / 1000) + expiresIn;
  const staff = staffId === undefined ? {} : { staff_id: staffId };
  return signClaims({ sub: subject, exp, ...staff, ...claims }, key, header);
}

/** A token with these claims and no others. */
export function signClaims(
  claims: Record<string, unknown>,
  key: string | CryptoKey = testSecret,
  header: JWTHeaderParameters = { alg: 'HS256' },
): Promise<string> {
  const signingKey = typeof key === 'string' ? new TextEncoder().encode(key) : key;
  return new SignJWT(claims).setProtectedHeader(header).sign(signingKey);
}

/** The header or metadata of a call with a new token. */
export async function bearer(options: TokenOptions = {}): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await signToken(options)}` };
}

/** The transport with a bearer token on every call, unless there is none. */
export function withToken(transport: Transport, token: string | undefined): Transport {
  const authorize = (header: ConstructorParameters<typeof Headers>[0]) => {
    const headers = new Headers(header);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return headers;
  };
  return {
    unary: (method, signal, timeoutMs, header, input, values) =>
      transport.unary(method, signal, timeoutMs, authorize(header), input, values),
    stream: (method, signal, timeoutMs, header, input, values) =>
      transport.stream(method, signal, timeoutMs, authorize(header), input, values),
  };
}
