import { SignJWT } from 'jose';
import { readSecrets } from '../config/auth.ts';
import { ConfigErrors } from '../config/variables.ts';

/** The claims of a bearer token (design 1). */
export interface TokenRequest {
  readonly subject: string;
  /** Undefined: a token without a staff identity. */
  readonly staffId: number | undefined;
  readonly lifetimeSeconds: number;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

/** Signs a bearer token with the secret that services verify it with. */
export function signToken(secret: string, request: TokenRequest): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const token = new SignJWT(request.staffId === undefined ? {} : { staff_id: request.staffId })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(request.subject)
    .setIssuedAt(now)
    .setExpirationTime(now + request.lifetimeSeconds);
  if (request.issuer) token.setIssuer(request.issuer);
  if (request.audience) token.setAudience(request.audience);
  return token.sign(Buffer.from(secret));
}

/** Returns the secret of AUTH_JWT_SECRET that signs. Throws a `ConfigError` if it is too short. */
export function signingSecret(text: string): string {
  const errors = new ConfigErrors();
  const [first = ''] = readSecrets(text, errors);
  errors.throwIfAny();
  return first;
}
