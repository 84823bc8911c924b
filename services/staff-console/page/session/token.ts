/** A bearer token, and what the page knows of it. Only the services verify it. */
export interface Token {
  readonly text: string;
  readonly subject: string;
  /** Undefined: the token has no staff identity, and the services refuse most calls. */
  readonly staffId: number | undefined;
  /** The name to show: that of the provider, else the subject. */
  readonly name: string;
  /** When it ends, in Unix ms. */
  readonly expiresAt: number;
  /** Names the refresh token that this tab holds for it. Undefined: it is not renewed here. */
  readonly renewal: string | undefined;
}

/** What a provider tells beside a token. */
export type TokenDetails = Partial<Pick<Token, 'name' | 'expiresAt' | 'renewal'>>;

/**
 * Reads a JSON Web Token, also one that is pasted with "Bearer" before it. Undefined: the text is none.
 *
 * @param details stand before what the token itself tells.
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
    expiresAt: details.expiresAt ?? claims.exp * 1_000,
    renewal: details.renewal,
  };
}

/** Writes a token for the session storage of this tab, or for another tab. */
export function packToken({ text, name, expiresAt, renewal }: Token): string {
  return JSON.stringify({ text, name, expiresAt, renewal });
}

/** Reads what `packToken` has written. Undefined: the text is something else. */
export function unpackToken(packed: unknown): Token | undefined {
  const { text, name, expiresAt, renewal } = typeof packed === 'string' ? (parseObject(packed) ?? {}) : {};
  if (typeof text !== 'string' || typeof name !== 'string' || typeof expiresAt !== 'number') return undefined;
  return readToken(text, { name, expiresAt, ...(typeof renewal === 'string' && { renewal }) });
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
