import { type ConfigErrors, type Environment, readUrl } from './variables.ts';

/** How bearer tokens are verified: with a shared secret, or with an issuer's keys. */
export type AuthConfig = KeyConfig & {
  /** The claim that has the external id of a staff user, in tokens without `staff_id` (design 14). Undefined: none has. */
  readonly staffClaim?: string;
};

type KeyConfig =
  | {
      readonly kind: 'secret';
      /** One secret, or two during a rotation. */
      readonly secrets: readonly string[];
      readonly issuer?: string;
      readonly audience?: string;
    }
  | { readonly kind: 'jwks'; readonly url: URL; readonly issuer: string; readonly audience: string };

/** Reads the AUTH_ variables. Adds a line to `errors` for each problem. */
export function readAuth(env: Environment, errors: ConfigErrors): AuthConfig {
  const staffClaim = env.AUTH_STAFF_CLAIM;
  return { ...readKeys(env, errors), ...(staffClaim ? { staffClaim } : {}) };
}

function readKeys(env: Environment, errors: ConfigErrors): KeyConfig {
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
 * Splits AUTH_JWT_SECRET into its secrets: one, or two separated by a comma. The first one signs. A secret can't
 * contain a comma: a service that read both secrets as one would refuse every token.
 */
export function readSecrets(text: string, errors: ConfigErrors): string[] {
  const secrets = text.includes(',') ? text.split(',').map((secret) => secret.trim()) : [text];
  if (secrets.length > 2 || secrets.some((secret) => Buffer.byteLength(secret) < 32)) {
    errors.add(
      'AUTH_JWT_SECRET must be a secret of 32 bytes or more, or two of them with a comma between: try `openssl rand -base64 48`',
    );
  }
  return secrets;
}
