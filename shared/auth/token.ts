import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify, UnsecuredJWT } from 'jose';
import type { AuthConfig } from '../config/auth.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import { type Keys, KeysUnavailableError, type VerificationKey } from './keys.ts';

/** The claims of a token that this project reads. */
export interface Claims {
  readonly subject: string;
  readonly staffId: number | undefined;
  /** The `exp` claim in milliseconds since the epoch. A token is accepted for the leeway longer. */
  readonly expiresAt: number;
}

/** A token whose signature and claims are good. */
export interface VerifiedToken {
  readonly claims: Claims;
  /** The key that signed it. */
  readonly key: VerificationKey;
}

/** Verifies a bearer token; see `createTokenVerifier` for its errors. */
export type TokenVerifier = (token: string) => Promise<VerifiedToken>;

/** How far the clock of an issuer may be off. */
export const leewayMs = 5_000;
/** Valid tokens are shorter; longer ones would only fill the cache. */
export const maxTokenLength = 8192;
const unsecuredHeader = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');

/**
 * Creates the function that verifies bearer tokens with keys of `keys`.
 *
 * The function throws UNAUTHENTICATED `Authentication required` for a token that is not valid, and UNAVAILABLE
 * `IDENTITY_PROVIDER_UNAVAILABLE` if its key is not known and the keys can't be fetched.
 */
export function createTokenVerifier({ issuer, audience }: AuthConfig, keys: Keys): TokenVerifier {
  const options: JWTVerifyOptions = {
    algorithms: [...keys.algorithms],
    clockTolerance: leewayMs / 1000,
    requiredClaims: ['sub', 'exp'],
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  };

  async function verify(token: string): Promise<VerifiedToken> {
    if (token.length > maxTokenLength) throw new errors.JWTInvalid('the token is too long');
    const { alg = '', kid } = decodeProtectedHeader(token);
    if (!keys.algorithms.includes(alg)) throw new errors.JOSEAlgNotAllowed('the algorithm is not allowed');
    checkUnverifiedClaims(token, options);
    return verifyWithAny(await keys.find(alg, kid), token, options);
  }

  return (token) =>
    verify(token).catch((cause: unknown) => {
      const isUnknown = cause instanceof KeysUnavailableError;
      throw fail(isUnknown ? commonErrors.keysUnavailable : commonErrors.authenticationRequired, { cause });
    });
}

/**
 * Throws if the claims are not valid, whoever signed them: such a token must not wait until its key is fetched. jose
 * checks claims apart from signatures only in tokens without one.
 */
function checkUnverifiedClaims(token: string, options: JWTVerifyOptions): void {
  const [, payload = ''] = token.split('.');
  UnsecuredJWT.decode(`${unsecuredHeader}.${payload}.`, options);
}

async function verifyWithAny(
  [key, ...others]: readonly VerificationKey[],
  token: string,
  options: JWTVerifyOptions,
): Promise<VerifiedToken> {
  if (key === undefined) throw new errors.JWKSNoMatchingKey();
  try {
    const { payload } = await jwtVerify(token, key.cryptoKey, options);
    return { claims: readClaims(payload), key };
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed && others.length > 0) {
      return verifyWithAny(others, token, options);
    }
    throw error;
  }
}

function readClaims(payload: JWTPayload): Claims {
  const { sub, exp, staff_id: staffId } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.includes('\0')) throw invalidClaim('sub', payload);
  if (exp === undefined) throw invalidClaim('exp', payload);
  const claims = { subject: sub, expiresAt: exp * 1000 };
  if (staffId === undefined || staffId === null) return { ...claims, staffId: undefined };
  if (typeof staffId !== 'number' || !Number.isInteger(staffId)) throw invalidClaim('staff_id', payload);
  return { ...claims, staffId };
}

function invalidClaim(name: string, payload: JWTPayload): Error {
  return new errors.JWTClaimValidationFailed(`the claim ${name} is not valid`, payload, name, 'invalid');
}
