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
  const { staffId, subject = 'tester', expiresIn = 3600, secret = testSecret, claims = {} } = options;
  return new SignJWT({ ...(staffId === undefined ? {} : { staff_id: staffId }), ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(subject)
    .setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn)
    .sign(new TextEncoder().encode(secret));
}
