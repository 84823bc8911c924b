import { SignJWT } from 'jose';

/** The secret of every service under test. */
export const testSecret = 'a secret of more than thirty-two bytes, for tests only';

export interface TokenOptions {
  readonly staffId?: unknown;
  readonly subject?: string;
  /** Seconds from now. */
  readonly expiresIn?: number;
  readonly secret?: string;
  readonly claims?: Record<string, unknown>;
}

/** A token of the test secret; without `staffId` one without a staff identity. */
export function signToken(options: TokenOptions = {}): Promise<string> {
  const { staffId, subject = 'tester', expiresIn = 3600, secret, claims = {} } = options;
  const exp = Math.floor(Date.now() / 1000) + expiresIn;
  const staff = staffId === undefined ? {} : { staff_id: staffId };
  return signClaims({ sub: subject, exp, ...staff, ...claims }, secret);
}

/** A token with just these claims. */
export function signClaims(claims: Record<string, unknown>, secret = testSecret): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
}
