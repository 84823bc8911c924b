import {
  type CryptoKey,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  UnsecuredJWT,
} from 'jose';
import type { DatabaseClock } from '../clock/clock.ts';
import type { AuthConfig } from '../config/auth.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import { type Keys, KeysUnavailableError } from './key-set.ts';
import { shown } from './refusals.ts';

/** The claims that this project reads from a token. */
export interface Claims {
  readonly subject: string;
  readonly staffId: number | undefined;
  /** The external id of a staff user, of a token without `staff_id`. */
  readonly staffExternalId: string | undefined;
  /** The `exp` claim in milliseconds since the epoch. The token is accepted for `leewayMs` longer. */
  readonly expiresAt: number;
}

/** Verifies a bearer token; see `createTokenVerifier` for its errors. */
export type TokenVerifier = (token: string) => Promise<Claims>;

/** The tolerated difference between the issuer's clock and ours. */
export const leewayMs = 5_000;
/** How far in the future `exp` may be. An `exp` in milliseconds, a common mistake, would otherwise never expire. */
export const maxLifetimeDays = 366;
const maxLifetimeMs = maxLifetimeDays * 24 * 60 * 60 * 1000;
/** Longer tokens are rejected before they are parsed or cached. */
export const maxTokenLength = 8192;
const unsecuredHeader = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');

/**
 * Creates the function that verifies bearer tokens with `keys`, by the time of `clock`.
 *
 * The function throws UNAUTHENTICATED `Authentication required` for an invalid token, with the reason as its cause. It
 * throws UNAVAILABLE `IDENTITY_PROVIDER_UNAVAILABLE` if the key is unknown and the keys can't be fetched.
 */
export function createTokenVerifier(
  { issuer, audience, staffClaim }: AuthConfig,
  keys: Keys,
  clock: DatabaseClock,
): TokenVerifier {
  const options: JWTVerifyOptions = {
    algorithms: [...keys.algorithms],
    clockTolerance: leewayMs / 1000,
    requiredClaims: ['sub', 'exp'],
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  };

  async function verify(token: string): Promise<Claims> {
    if (token.length > maxTokenLength) throw new errors.JWTInvalid('the token is too long');
    const { alg = '', kid } = decodeProtectedHeader(token);
    if (!keys.algorithms.includes(alg))
      throw new errors.JOSEAlgNotAllowed(`the algorithm ${shown(alg)} is not allowed`);
    requireOneSpelling(token);
    const now = { ...options, currentDate: new Date(clock.now()) };
    const claims = readUnverifiedClaims(token, staffClaim, now);
    const found = await keys.find(alg, kid);
    for (const key of found) if (await hasSigned(key, token, now)) return claims;
    if (found.length > 0) throw new errors.JWSSignatureVerificationFailed();
    throw new errors.JWKSNoMatchingKey(`no key of ${alg} has the kid ${shown(kid)}`);
  }

  return (token) =>
    verify(token).catch((cause: unknown) => {
      const isUnknown = cause instanceof KeysUnavailableError;
      throw fail(isUnknown ? commonErrors.keysUnavailable : commonErrors.authenticationRequired, { cause });
    });
}

/** Throws if the signature is not in canonical base64url: each spelling of it would take its own cache entry. */
function requireOneSpelling(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) {
    throw new errors.JWSInvalid('the signature is no base64url');
  }
}

/**
 * Validates the claims before the signature, so that an invalid token does not wait for a key fetch. jose offers this
 * only for unsecured tokens, so the token is decoded as one.
 */
function readUnverifiedClaims(
  token: string,
  staffClaim: string | undefined,
  options: JWTVerifyOptions & { readonly currentDate: Date },
): Claims {
  const [, part = ''] = token.split('.');
  const { payload } = UnsecuredJWT.decode(`${unsecuredHeader}.${part}.`, options);
  const { sub, exp, staff_id: staffId } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.includes('\0')) throw invalidClaim('sub', 'is no text', payload);
  const expiresAt = Number(exp) * 1000;
  if (expiresAt > options.currentDate.getTime() + maxLifetimeMs + leewayMs) {
    throw invalidClaim('exp', `is more than ${maxLifetimeDays} days ahead`, payload);
  }
  if (staffId === undefined || staffId === null) {
    return { subject: sub, expiresAt, staffId: undefined, staffExternalId: staffExternalIdOf(payload, staffClaim) };
  }
  if (typeof staffId !== 'number' || !Number.isInteger(staffId)) {
    throw invalidClaim('staff_id', 'is no integer', payload);
  }
  return { subject: sub, expiresAt, staffId, staffExternalId: undefined };
}

/** The claim that names a staff user (design 14). An address that is not verified names nobody. */
function staffExternalIdOf(payload: JWTPayload, staffClaim: string | undefined): string | undefined {
  const named = staffClaim === undefined ? undefined : payload[staffClaim];
  if (typeof named !== 'string' || named === '' || named.includes('\0')) return undefined;
  const { email_verified: verified } = payload;
  const isVerified = verified === undefined || verified === true || verified === 'true';
  return staffClaim === 'email' && !isVerified ? undefined : named;
}

async function hasSigned(key: CryptoKey, token: string, options: JWTVerifyOptions): Promise<boolean> {
  try {
    await jwtVerify(token, key, options);
    return true;
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return false;
    throw error;
  }
}

function invalidClaim(name: string, problem: string, payload: JWTPayload): Error {
  return new errors.JWTClaimValidationFailed(`${name} ${problem}`, payload, name, 'invalid');
}
