/** A bearer token with the claims that the page uses. Only the services verify it. */
export interface Token {
  readonly text: string;
  readonly subject: string;
  /** Without it, the services refuse most calls. */
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

/** Reads a JSON Web Token, even pasted with "Bearer" in front; undefined for other text. Details precede claims. */
export function readToken(pasted: string, details: Partial<Token> = {}): Token | undefined {
  const text = pasted.trim().replace(/^bearer\s+/i, '');
  const [, payload = '', signature] = text.split('.');
  const { sub, exp, staff_id, name } = signature ? readObject(() => decode(payload)) : {};
  if (typeof sub !== 'string' || typeof exp !== 'number') return undefined;
  return {
    text,
    subject: sub,
    staffId: typeof staff_id === 'number' ? staff_id : undefined,
    name: details.name || (typeof name === 'string' && name) || sub,
    expiresAt: exp * 1_000,
    renewal: details.renewal,
    isAccepted: details.isAccepted ?? false,
  };
}

/** Serializes a token for this tab's session storage, or for another tab. */
export const packToken = ({ text, name, renewal, isAccepted }: Token): string =>
  JSON.stringify({ text, name, renewal, isAccepted });

/** Reads a token that `packToken` serialized. Returns undefined for anything else. */
export function unpackToken(packed: unknown): Token | undefined {
  const { text, name, renewal, isAccepted } = readObject(() => String(packed));
  if (typeof text !== 'string' || typeof name !== 'string') return undefined;
  const kept = typeof renewal === 'string' ? renewal : undefined;
  return readToken(text, { name, renewal: kept, isAccepted: isAccepted === true });
}

function decode(base64Url: string): string {
  const bytes = Uint8Array.from(atob(base64Url.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

/** Reads an object in JSON. Returns an empty one for anything else. */
function readObject(read: () => string): Partial<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(read());
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
