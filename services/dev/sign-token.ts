import { SignJWT } from 'jose';
import { readSecrets } from '../../shared/config/auth.ts';
import { ConfigErrors, type Environment } from '../../shared/config/variables.ts';

/** The claims of a bearer token (design 1). */
export interface TokenClaims {
  readonly subject: string;
  /** Undefined: a token without a staff identity. */
  readonly staffId: number | undefined;
  readonly lifetimeSeconds: number;
}

/**
 * Signs a bearer token that the services accept.
 *
 * @param secret in the form of AUTH_JWT_SECRET; throws a `ConfigError` if it is too short.
 * @param env with AUTH_ISSUER and AUTH_AUDIENCE, if the services check them.
 */
export async function signToken(secret: string, claims: TokenClaims, env: Environment): Promise<string> {
  const errors = new ConfigErrors();
  const [signingSecret] = readSecrets(secret, errors);
  errors.throwIfAny();
  const now = Math.floor(Date.now() / 1000);
  const token = new SignJWT(claims.staffId === undefined ? {} : { staff_id: claims.staffId })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(claims.subject)
    .setIssuedAt(now)
    .setExpirationTime(now + claims.lifetimeSeconds);
  if (env.AUTH_ISSUER) token.setIssuer(env.AUTH_ISSUER);
  if (env.AUTH_AUDIENCE) token.setAudience(env.AUTH_AUDIENCE);
  return token.sign(Buffer.from(signingSecret ?? ''));
}
