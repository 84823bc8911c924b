import { type ConfigErrors, type Environment, readUrl } from './variables.ts';

/** How bearer tokens are verified: with a shared secret, or with the keys of an issuer. */
export type AuthConfig =
  | {
      readonly kind: 'secret';
      /** One secret, or two while one replaces the other. */
      readonly secrets: readonly string[];
      readonly issuer?: string;
      readonly audience?: string;
    }
  | { readonly kind: 'jwks'; readonly url: URL; readonly issuer: string; readonly audience: string };

/** Reads the AUTH_ variables. Adds a line to `errors` for each problem. */
export function readAuth(env: Environment, errors: ConfigErrors): AuthConfig {
  const { AUTH_JWT_SECRET: secret, AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = env;
  const jwksUrl = readUrl(env, 'AUTH_JWKS_URL', ['https:', 'http:'], errors);
  if (secret && env.AUTH_JWKS_URL) {
    errors.add('AUTH_JWT_SECRET and AUTH_JWKS_URL are both set: set one of them');
  }
  if (jwksUrl !== undefined) {
    if (!issuer) errors.add('AUTH_ISSUER is not set: AUTH_JWKS_URL needs the issuer of its tokens');
    if (!audience) errors.add('AUTH_AUDIENCE is not set: without it any token of the issuer would be taken');
    return { kind: 'jwks', url: new URL(jwksUrl), issuer: issuer ?? '', audience: audience ?? '' };
  }
  if (!secret && !env.AUTH_JWKS_URL) errors.add('AUTH_JWT_SECRET or AUTH_JWKS_URL is not set: set one of them');
  return {
    kind: 'secret',
    secrets: secret ? readSecrets(secret, errors) : [],
    ...(issuer ? { issuer } : {}),
    ...(audience ? { audience } : {}),
  };
}

/**
 * Splits AUTH_JWT_SECRET into its secrets: one, or two separated by a comma, of which the first signs. A secret has
 * 32 bytes or more, so a comma that leaves a shorter part belongs to the secret.
 */
export function readSecrets(text: string, errors: ConfigErrors): string[] {
  if (Buffer.byteLength(text) < 32) {
    errors.add('AUTH_JWT_SECRET is shorter than 32 bytes: try `openssl rand -base64 48`');
  }
  const parts = text.split(',').map((part) => part.trim());
  const long = parts.filter((part) => Buffer.byteLength(part) >= 32);
  if (long.length > 2 || (long.length > 0 && parts.includes(''))) {
    errors.add('AUTH_JWT_SECRET must be one secret, or two with a comma between them');
  }
  return parts.length === 2 && parts.every((part) => Buffer.byteLength(part) >= 32) ? parts : [text];
}
