/** A bearer token with the claims that the page uses. Only the services verify it. */
export interface Token {
  readonly text: string;
  readonly subject: string;
  /** Undefined if the token has no staff identity. The services then refuse most calls. */
  readonly staffId: number | undefined;
  /** The display name: the provider's or the token's, or else the subject. */
  readonly name: string;
  /** When the token expires, in Unix ms, by the services' clock. */
  readonly expiresAt: number;
  /** Whether a service has accepted the token. Until then, its claims may be invented. */
  readonly isAccepted: boolean;
  /** Identifies the refresh token that this tab holds for it; undefined if this tab does not renew it. */
  readonly renewal: string | undefined;
}

/** The details that a provider sends with a token. */
export type TokenDetails = Partial<Pick<Token, 'name' | 'renewal' | 'isAccepted'>>;

/**
 * Reads a JSON Web Token, even one pasted with "Bearer" in front. Returns undefined for any other text.
 *
 * @param details take precedence over the token's own claims.
 */
export function readToken(text: string, details: TokenDetails = {}): Token | undefined {
  const token = text.trim().replace(/^bearer\s+/i, '');
  const claims = readClaims(token);
  if (claims === undefined || typeof claims.sub !== 'string' || typeof claims.exp !== 'number') return undefined;
  return {
    text: token,
    subject: claims.sub,
    staffId: typeof claims.staff_id === 'number' ? claims.staff_id : undefined,
    name: details.name || (typeof claims.name === 'string' && claims.name) || claims.sub,
    expiresAt: claims.exp * 1_000,
    renewal: details.renewal,
    isAccepted: details.isAccepted ?? false,
  };
}

/** Serializes a token for this tab's session storage, or for another tab. */
export function packToken({ text, name, renewal, isAccepted }: Token): string {
  return JSON.stringify({ text, name, renewal, isAccepted });
}

/** Reads a token that `packToken` serialized. Returns undefined for anything else. */
export function unpackToken(packed: unknown): Token | undefined {
  const { text, name, renewal, isAccepted } = typeof packed === 'string' ? (parseObject(packed) ?? {}) : {};
  if (typeof text !== 'string' || typeof name !== 'string') return undefined;
  return readToken(text, { name, isAccepted: isAccepted === true, ...(typeof renewal === 'string' && { renewal }) });
}

function readClaims(token: string): Partial<Record<string, unknown>> | undefined {
  const [, payload, signature] = token.split('.');
  if (!payload || !signature) return undefined;
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    return parseObject(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function parseObject(text: string): Partial<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
