/** A bearer token, and what the page reads of it. Only the services verify it. */
export interface Token {
  readonly text: string;
  readonly subject: string;
  /** Undefined: the token has no staff identity, and the services refuse most calls. */
  readonly staffId: number | undefined;
  /** The name to show: that of the provider, else the subject. */
  readonly name: string;
  /** When it ends, in Unix ms. */
  readonly expiresAt: number;
}

/** Reads a JSON Web Token, also one that is pasted with "Bearer" before it. Undefined: the text is none. */
export function readToken(text: string): Token | undefined {
  const token = text.trim().replace(/^bearer\s+/i, '');
  const claims = readClaims(token);
  if (claims === undefined || typeof claims.sub !== 'string' || typeof claims.exp !== 'number') return undefined;
  return {
    text: token,
    subject: claims.sub,
    staffId: typeof claims.staff_id === 'number' ? claims.staff_id : undefined,
    name: typeof claims.name === 'string' && claims.name !== '' ? claims.name : claims.sub,
    expiresAt: claims.exp * 1_000,
  };
}

function readClaims(token: string): Partial<Record<string, unknown>> | undefined {
  const [, payload, signature] = token.split('.');
  if (!payload || !signature) return undefined;
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}
